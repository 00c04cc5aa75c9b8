import { describe, expect, it } from 'vitest';
import { renderVelocity } from '../../../local/ingress/velocity.ts';

const scope = {
  body: '{"a":{"b":"x y"},"n":7,"empty":null}',
  params: { present: 'p&q' },
  context: { requestTimeEpoch: '17' },
};
const render = (template: string) => renderVelocity(template, scope);

describe('renderVelocity', () => {
  it.each([
    [
      '$util.urlEncode($input.body)',
      '%7B%22a%22%3A%7B%22b%22%3A%22x+y%22%7D%2C%22n%22%3A7%2C%22empty%22%3Anull%7D',
    ],
    ["[$input.path('$.a.b')] [$input.path('$.n')] [$input.path('$.a')]", '[x y] [7] [{"b":"x y"}]'],
    ["[$input.path('$.missing')$input.path('$.empty')$input.path('$.n.deep')]", '[]'],
    ["$util.urlEncode($input.params('present'))$input.params('absent')", 'p%26q'],
    ['$context.requestTimeEpoch', '17'],
    ['#set($t = $input.path(\'$.a.b\'))#if($t && $t != "")<$t>#end', '<x y>'],
    ['#set($t = $input.params(\'absent\'))#if($t && $t != "")<$t>#else-#end', '-'],
    ['#set($t = "")#if(!$t || $t == "")#set($t = "-")#end$t', '-'],
    ['#if($input.body.contains("x y"))in#end', 'in'],
    ['#if($input.body == "z")#if($input.body == "z")a#else b#end#else c#end', ' c'],
  ])('renders %s', (template, text) => {
    expect(render(template)).toEqual({ text, overrides: {} });
  });

  it.each([
    ["#set($r = $input.path('$'))#foreach($k in $r.keySet())[$k]#end", '[a][n][empty]'],
    [`#set($r = $input.path('$'))#if($r.containsKey('n') == true && $r.n > 6)$\{r.a.b}#{else}no#end`, 'x y'],
    ['#if($unset.missing.length() > 1)no#elseif($unset == $unset)no#{else}null#end', 'null'],
    ["#set($t = 'é1')#if($t.matches('.[0-9]'))m#end$t.length()$t.codePointCount(0, $t.length())", 'm22'],
    [`#set($i = 0)#set($i = $i + 1)#set($s = "$\{i}$.x")$s`, '1$.x'],
    ["$input.json('$.a')$input.json('$.a.b')$input.json('$.n')", '{"b":"x y"}"x y"7'],
  ])('computes %s', (template, text) => {
    expect(render(template)).toEqual({ text, overrides: {} });
  });

  it('tells what a template sets in the context, and refuses to set it twice', () => {
    const set = '#set($context.responseOverride.status = 413)';

    expect(render(`${set}big`)).toEqual({ text: 'big', overrides: { 'responseOverride.status': '413' } });
    expect(() => render(`${set}${set}`)).toThrow(/twice/);
  });

  it.each([
    '$unset',
    '$context.unknown',
    '#if($input.body)',
    'x#end',
    '#macro(m)#end',
    '$input.body.reverse()',
    '$util.base64Encode("x")',
  ])('refuses %s', (template) => {
    expect(() => render(template)).toThrow(/template/);
  });
});
