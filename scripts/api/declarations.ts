// Reads the declarations that the build wrote, and follows their chunks: what an entry exports, and what that refers to.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Declaration {
  readonly name: string;
  readonly kind: 'function' | 'interface' | 'type' | 'class' | 'const';
  /** The text of its comment, without the marks. Empty: it has none. */
  readonly doc: string;
  /** Without its own comment; comments inside stay. */
  readonly text: string;
  /** Where the names in it come from. */
  readonly scope: Scope;
}

export interface Entry {
  /** By exported name, in alphabetical order. */
  readonly exported: ReadonlyMap<string, Declaration>;
  /** What these refer to, directly or not, and users cannot import. */
  readonly hidden: ReadonlyMap<string, Declaration>;
  /** The interfaces among these that types refer to, and not only the type of a schema or a table. */
  readonly parts: ReadonlyMap<string, Declaration>;
}

interface Scope {
  find(name: string): Declaration | undefined;
}

interface Module extends Scope {
  readonly exports: ReadonlyMap<string, string>;
}

/** Any line that begins a statement at the top level. */
const START = /^(?:\/\*\*|import |export |declare |interface |type )/;
const DECLARATION = /^(?:declare )?(function|interface|type|class|const) ([\w$]+)/;

/** One entry of the package, by the path of its declaration file. */
export function readEntry(path: string): Entry {
  const modules = new Map<string, Module>();
  const { exports, find } = load(path, modules);
  const exported = new Map<string, Declaration>();
  for (const name of [...exports.keys()].toSorted()) {
    const found = find(exports.get(name) ?? name);
    if (found === undefined) throw new Error(`${path} exports ${name}, which is declared nowhere`);
    exported.set(name, { ...found, doc: docOf(found) });
  }
  const parts = [...reachable(exported, ({ kind }) => kind !== 'const')].filter(([, { kind }]) => kind === 'interface');
  return { exported, hidden: reachable(exported, () => true), parts: new Map(parts) };
}

/** A type that is made from a schema or a list has the comment of that. */
function docOf({ doc, kind, text, scope }: Declaration): string {
  const [, source] = /typeof ([\w$]+)[>)\]; ]/.exec(text) ?? [];
  return doc !== '' || kind !== 'type' || source === undefined ? doc : (scope.find(source)?.doc ?? '');
}

function reachable(
  exported: ReadonlyMap<string, Declaration>,
  isFollowed: (declaration: Declaration) => boolean,
): Map<string, Declaration> {
  const isExported = ({ text }: Declaration): boolean => [...exported.values()].some((one) => one.text === text);
  const found = new Map<string, Declaration>();
  const open = [...exported.values()];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of referencesOf(next)) {
      const other = next.scope.find(name);
      if (other === undefined || !isFollowed(other) || isExported(other) || found.has(name)) continue;
      found.set(name, other);
      open.push(other);
    }
  }
  return new Map([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function referencesOf({ name, text }: Declaration): Set<string> {
  const code = text.replaceAll(/\/\*[^]*?\*\/|'[^']*'|"[^"]*"|[\w$]+\??:/g, ' ');
  return new Set(
    [...code.matchAll(/(?<![.\w$])[A-Za-z_$][\w$]*/g)].map(([word]) => word).filter((word) => word !== name),
  );
}

function load(path: string, modules: Map<string, Module>): Module {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, { from: string; name: string }>();
  const exports = new Map<string, string>();
  const module: Module = {
    exports,
    find: (name) => {
      const imported = imports.get(name);
      if (imported === undefined) return declarations.get(name);
      const other = load(imported.from, modules);
      return other.find(other.exports.get(imported.name) ?? imported.name);
    },
  };
  modules.set(path, module);
  let doc = '';
  for (const statement of statementsOf(readFileSync(path, 'utf8'))) {
    if (statement.startsWith('/**')) {
      doc = statement;
      continue;
    }
    const [, names = '', from = ''] = /^import \{([^}]*)\} from "(\.[^"]*)"/.exec(statement) ?? [];
    for (const [name, local] of pairsOf(names)) {
      imports.set(local, { from: join(dirname(path), from.replace(/mjs$/, 'd.mts')), name });
    }
    const [, given = ''] = /^export \{([^}]*)\}/.exec(statement) ?? [];
    for (const [local, name] of pairsOf(given)) exports.set(name, local);
    const [, kind, name] = DECLARATION.exec(statement) ?? [];
    if (kind !== undefined && name !== undefined) {
      const text = statement.trimEnd();
      declarations.set(name, { name, kind: kind as Declaration['kind'], doc: plain(doc), text, scope: module });
    }
    doc = '';
  }
  return module;
}

function statementsOf(text: string): string[] {
  const statements: string[][] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('//')) continue;
    if (START.test(line) || statements.length === 0) statements.push([line]);
    else statements.at(-1)?.push(line);
  }
  return statements.map((lines) => lines.join('\n'));
}

/** `a as b, type c` as pairs of what is there and what it becomes. */
function pairsOf(names: string): [string, string][] {
  return names.split(',').flatMap((part): [string, string][] => {
    const [from = '', to = from] = part
      .trim()
      .replace(/^type /, '')
      .split(' as ');
    return from === '' ? [] : [[from, to]];
  });
}

function plain(comment: string): string {
  const lines = comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/\s*$/, '')
    .split('\n');
  return lines
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim();
}
