import type { FieldRule } from './ingress-rules.ts';

/** A request that breaks every rule at once still makes an answer that fits a header. */
const MAX_FAULTS_LENGTH = 1500;

/**
 * A piece of mapping template that holds the body against the rules and sets `$faults`: empty, or `; $.path: rule`
 * for each rule that is broken. No value of the body gets into it, and of a field that the envelope does not know
 * only a name that looks like one.
 *
 * Every condition asks for an explicit `true` or `false`: whatever a template engine should not know comes to
 * nothing, and the message goes on to the starter, which checks all of it again.
 */
export function checksOf(rules: FieldRule & { readonly kind: 'fields' }): string {
  return `#set($faults = "")#set($root = $input.path('$'))${fieldsChecks(rules, '$root', '$')}${payloadCheck}`;
}

const fault = (path: string, rule: string): string => `#set($faults = "\${faults}; ${path}: ${rule}")`;

const payloadCheck = [
  "#if(($root.containsKey('payload') == true && $root.containsKey('payloadRef') == true)",
  " || ($root.containsKey('payload') == false && $root.containsKey('payloadRef') == false))",
  `${fault('$', 'must have exactly one of payload and payloadRef')}#end`,
].join('');

function fieldsChecks(rules: FieldRule & { readonly kind: 'fields' }, map: string, path: string): string {
  const { fields, required } = rules;
  const known = Object.entries(fields).map(([name, rule]) => {
    const missing = required.includes(name)
      ? `#elseif(${map}.containsKey('${name}') == false)${fault(`${path}.${name}`, 'is required')}`
      : '';
    return `#if(${map}.containsKey('${name}') == true)${check(rule, `${map}.${name}`, `${path}.${name}`)}${missing}#end`;
  });
  const unknown = [
    `#foreach($key in ${map}.keySet())`,
    `#if($key.matches('${Object.keys(fields).join('|')}') == false && $faults.length() < ${MAX_FAULTS_LENGTH})`,
    "#if($key.matches('[A-Za-z_][A-Za-z0-9_]{0,49}') == true)",
    fault(`${path}.\${key}`, 'is not a field of the envelope'),
    `#else${fault(`${path}.?`, 'is not a field of the envelope')}#end#end#end`,
  ];
  return [...known, ...unknown].join('');
}

function check(rule: FieldRule, value: string, path: string): string {
  // The JSON text tells the type, which the value itself does not.
  const json = `$input.json('${path}')`;
  const isNot = (first: string) => `${json}.startsWith('${first}') == false`;
  switch (rule.kind) {
    case 'text':
      return `#if(${isNot('"')})${fault(path, 'must be a string')}${textChecks(rule, value, path)}#end`;
    case 'pattern':
      return [
        `#if(${isNot('"')}${rule.nullable === true ? ` && ${isNot('null')}` : ''})${fault(path, 'must be a string')}`,
        `#elseif(${value}.matches('${rule.pattern}') == false)${fault(path, rule.rule)}#end`,
      ].join('');
    case 'whole':
      // What is written with a point or an exponent may be whole: the starter knows.
      return [
        `#if(${json}.matches('[1-9][0-9]*|[0-9]+[.eE].*') == false || ${value} > ${rule.maximum})`,
        `${fault(path, `must be a whole number from 1 to ${rule.maximum}`)}#end`,
      ].join('');
    case 'object':
      return `#if(${isNot('{')})${fault(path, 'must be an object')}#end`;
    case 'texts':
      return [
        `#if(${isNot('[')})${fault(path, 'must be an array')}`,
        `#elseif(${value}.size() > ${rule.size})${fault(path, `must name at most ${rule.size} codes`)}`,
        `#else#set($index = 0)#foreach($item in ${value})#if($faults.length() < ${MAX_FAULTS_LENGTH})`,
        `#set($itemJson = $input.json("${path}[$index]"))`,
        `#if($itemJson.startsWith('"') == false)${fault(`${path}[$index]`, 'must be a string')}`,
        textChecks({ kind: 'text', limit: rule.limit }, '$item', `${path}[$index]`),
        '#end#end#set($index = $index + 1)#end#end',
      ].join('');
    case 'fields':
      return `#if(${isNot('{')})${fault(path, 'must be an object')}#else${fieldsChecks(rule, value, path)}#end`;
  }
}

/** Characters are counted as code points, as the starter does. */
function textChecks(
  { limit, counted = limit }: FieldRule & { readonly kind: 'text' },
  value: string,
  path: string,
): string {
  return [
    `#elseif(${value}.length() < 1)${fault(path, 'must not be empty')}`,
    `#elseif(${value}.codePointCount(0, ${value}.length()) > ${counted})`,
    fault(path, `must be at most ${limit} characters`),
    `#elseif(${value}.matches('\\P{Cc}*') == false)${fault(path, 'must hold no control characters')}`,
  ].join('');
}
