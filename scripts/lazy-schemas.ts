// A build plugin: a schema is made when it is first used. The command line has some five hundred of them, and each command uses a few.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Constants of modules that are named so; other modules import them under the same name. */
const NAMED = /[a-z0-9]Schema$/;
/** Only the compiler reads what is in these. */
const OF_TYPES = /^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)/;
const NO_VALUES = new Set(['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType', 'implements', 'parent']);

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function lazySchemas() {
  return {
    name: 'lazy-schemas',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: /[a-z0-9]Schema\b/ },
      handler(this: { parse(code: string, options: { lang: 'ts' }): unknown }, code: string, id: string): string {
        return withFunctions(code, this.parse(code, { lang: 'ts' }) as Node, id);
      },
    },
  };
}

/** The module with a function in place of each schema, and with a call wherever it uses one. */
function withFunctions(code: string, program: Node, id: string): string {
  const statements = nodesIn(program['body']);
  const made = statements.flatMap((statement) => madeIn(statement) ?? []);
  const names = new Set([...made.map(({ name }) => name), ...statements.flatMap((one) => importedBy(one, id))]);
  if (names.size === 0) return code;
  const values = new Map(made.map(({ declarator, value }) => [declarator, value]));
  const edits = made.flatMap(({ name, statement, value }): Edit[] => {
    const head = statement.type === 'ExportNamedDeclaration' ? 'export function' : 'function';
    return [
      { start: statement.start, end: value.start, text: `var ${name}$; ${head} ${name}() { return ${name}$ ??= (` },
      { start: value.end, end: statement.end, text: '); }' },
    ];
  });
  const visit = (node: Node): void => {
    if (OF_TYPES.test(node.type) || /^Import|^ExportSpecifier/.test(node.type)) return;
    const value = values.get(node);
    if (value !== undefined) return visit(value);
    const bound = boundBy(node).find((name) => names.has(name));
    if (bound !== undefined) throw new Error(`${id}: two things are called ${bound}; a schema needs a name of its own`);
    if (node.type === 'Identifier' && names.has(nameOf(node)))
      edits.push({ start: node.end, end: node.end, text: '()' });
    // `{ aSchema }` stands for `{ aSchema: aSchema }`.
    if (node.type === 'Property' && node['shorthand'] === true && names.has(nameOf(node['key']))) {
      edits.push({ start: node.start, end: node.start, text: `${nameOf(node['key'])}: ` });
    }
    innerOf(node).forEach(visit);
  };
  statements.forEach(visit);
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), code);
}

function madeIn(statement: Node): { name: string; statement: Node; declarator: Node; value: Node } | undefined {
  const declaration = statement.type === 'ExportNamedDeclaration' ? nodesIn(statement['declaration'])[0] : statement;
  if (declaration?.type !== 'VariableDeclaration' || declaration['kind'] !== 'const') return undefined;
  const [declarator] = nodesIn(declaration['declarations']);
  const [value] = nodesIn(declarator?.['init']);
  const name = nameOf(declarator?.['id']);
  if (declarator === undefined || value === undefined || !NAMED.test(name)) return undefined;
  return { name, statement, declarator, value };
}

/** Schemas of another module, by their names here. */
function importedBy(statement: Node, id: string): string[] {
  if (statement.type !== 'ImportDeclaration') return [];
  const from = (statement['source'] as { value: string }).value;
  return nodesIn(statement['specifiers']).flatMap((specifier) => {
    const name = nameOf(specifier['imported']);
    if (!from.startsWith('.') || !NAMED.test(name) || specifier['importKind'] === 'type') return [];
    const isConstant = new RegExp(`^export const ${name}\\b`, 'm');
    if (!isConstant.test(readFileSync(resolve(dirname(id), from), 'utf8'))) return [];
    if (nameOf(specifier['local']) !== name) throw new Error(`${id}: ${name} has to keep its name`);
    return [name];
  });
}

/** Names that a node brings in. */
function boundBy(node: Node): string[] {
  const { id, params, param } = node as { readonly [field: string]: unknown };
  return [id, params, param].flatMap((one) => nodesIn(one)).flatMap(namesIn);
}

function namesIn(pattern: Node): string[] {
  if (pattern.type === 'Identifier') return [nameOf(pattern)];
  const { properties, elements, left, argument, value } = pattern as { readonly [field: string]: unknown };
  return [properties, elements, left, argument, value].flatMap((one) => nodesIn(one)).flatMap(namesIn);
}

function innerOf(node: Node): Node[] {
  const isName = (field: string): boolean => (field === 'key' || field === 'property') && node['computed'] !== true;
  return Object.entries(node).flatMap(([field, of]) => (NO_VALUES.has(field) || isName(field) ? [] : nodesIn(of)));
}

function nodesIn(of: unknown): Node[] {
  if (Array.isArray(of)) return of.flatMap((one) => nodesIn(one));
  return typeof of === 'object' && of !== null && typeof Reflect.get(of, 'type') === 'string' ? [of as Node] : [];
}

function nameOf(node: unknown): string {
  const [found] = nodesIn(node);
  return found?.type === 'Identifier' ? String(found['name']) : '';
}
