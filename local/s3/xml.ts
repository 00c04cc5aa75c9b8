/** An XML element's content: text, or child elements; a list repeats the element. */
export type XmlContent = string | number | boolean | XmlNode;
export interface XmlNode {
  readonly [element: string]: XmlContent | readonly XmlContent[] | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

/** An element with its content, text escaped; undefined children are left out. */
export function xmlElement(name: string, content: XmlContent, namespace?: string): string {
  const inner =
    typeof content === 'object'
      ? Object.entries(content)
          .map(([child, value]) => xmlChildren(child, value))
          .join('')
      : String(content).replace(/[&<>"\r]/g, (character) => ENTITIES[character] ?? character);
  return `<${name}${namespace === undefined ? '' : ` xmlns="${namespace}"`}>${inner}</${name}>`;
}

function xmlChildren(name: string, value: XmlContent | readonly XmlContent[] | undefined): string {
  if (value === undefined) return '';
  if (isList(value)) return value.map((item) => xmlElement(name, item)).join('');
  return xmlElement(name, value);
}

function isList(value: XmlContent | readonly XmlContent[]): value is readonly XmlContent[] {
  return Array.isArray(value);
}

/** The texts of every element of that name, wherever it stands, unescaped. */
export function xmlTexts(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) =>
    unescapeXml(text),
  );
}

/** The insides of every element of that name, which must not nest. */
export function xmlSections(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner = '']) => inner);
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(amp|lt|gt|quot|apos));/gi, (all, hex, decimal, named) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[String(named).toLowerCase()] ?? all;
  });
}
