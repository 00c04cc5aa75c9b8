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
    expect(render(template)).toEqual({ text });
  });

  it('tells the status that a template asks for', () => {
    expect(render('#set($context.responseOverride.status = 413)big')).toEqual({ text: 'big', status: 413 });
  });

  it.each(['$unset', '$context.unknown', '#if($input.body)', 'x#end'])('refuses %s', (template) => {
    expect(() => render(template)).toThrow(/template/);
  });
});
