// Writes docs/api.md and test/package/api-declarations.txt from the declarations in dist: `npm run api`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readEntry, type Declaration, type Entry } from './api/declarations.ts';
import { plainType } from './api/plain-type.ts';

const PAGE = 'docs/api.md';
const GOLDEN = 'test/package/api-declarations.txt';

const HEAD = `# API

Every name that the package exports, made from its declarations by \`npm run api\`. README.md shows the way in. Each entry is
imported by its name, such as \`import { createSquad } from 'agentsquad'\`. A change of a name or type here is a change of the
API.
`;

const manifestSchema = z.object({
  exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])),
});

/** The entries of the package, by the name that users import. */
export function readEntries(root: string): Map<string, Entry> {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  return new Map(
    Object.entries(manifest.exports).flatMap(([path, target]): [string, Entry][] =>
      typeof target === 'string' ? [] : [[path.replace('.', 'agentsquad'), readEntry(join(root, target.types))]],
    ),
  );
}

/** The contents of each file, by its path from `root`. */
export function apiFiles(root: string): ReadonlyMap<string, string> {
  const entries = readEntries(root);
  return new Map([
    [PAGE, [HEAD, ...[...entries].map(pageOf), ...partsOf(entries)].join('\n')],
    [GOLDEN, goldenOf(entries)],
  ]);
}

function pageOf([name, { exported }]: [string, Entry]): string {
  const all = [...exported];
  const values = all.filter(([, one]) => !isType(one));
  const types = all.filter(([, one]) => isType(one));
  return [`## \`${name}\`\n`, ...[...values, ...types].map(sectionOf)].join('\n');
}

function isType({ kind }: Declaration): boolean {
  return kind === 'interface' || kind === 'type';
}

/** Interfaces that the exported types refer to. Types of schemas are written out where they are used. */
function partsOf(entries: ReadonlyMap<string, Entry>): string[] {
  const exported = new Set([...entries.values()].flatMap((one) => [...one.exported.values()].map(({ text }) => text)));
  const parts = declarationsOf([...entries.values()].map((one) => one.parts)).filter(
    ({ doc, text }) => doc !== '' && !exported.has(text),
  );
  return ['## Parts of these types\n\nThey are not exported.\n', ...parts.map(partOf)];
}

/** Each once, in alphabetical order. */
function declarationsOf(all: readonly ReadonlyMap<string, Declaration>[]): Declaration[] {
  const found = new Map(all.flatMap((one) => [...one.values()].map((declaration) => [declaration.text, declaration])));
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function sectionOf([name, declaration]: [string, Declaration]): string {
  return `### ${name}\n\n${partOf(declaration)}`;
}

function partOf(declaration: Declaration): string {
  const text = declaration.doc === '' ? '' : `${declaration.doc.replaceAll(/\n(?=\S)/g, ' ')}\n\n`;
  return `${text}\`\`\`ts\n${readable(declaration)}\n\`\`\`\n`;
}

/** Types of schemas as the types that they stand for; schemas by name only. */
function readable({ name, kind, text, scope }: Declaration): string {
  const find = (other: string): string | undefined => {
    const [, type] = /^declare const [\w$]+: ([^]*);$/.exec(scope.find(other)?.text ?? '') ?? [];
    return type;
  };
  const [, side, schema] = /^type [\w$]+ = z\.(infer|output|input)<([^]*)>;$/.exec(text) ?? [];
  // Who gives a value may leave out one with a default.
  const given = (other: string) => find(other)?.replaceAll('z.ZodDefault<', 'z.ZodOptional<');
  if (schema !== undefined) {
    return `type ${name} = ${plainType(schema, side === 'input' ? given : find)};`.replace('= \n', '=\n');
  }
  return kind === 'const' && /: z\./.test(text) ? `declare const ${name}: z.ZodType;` : text.replace(/^export /, '');
}

function goldenOf(entries: ReadonlyMap<string, Entry>): string {
  const all = declarationsOf([...entries.values()].flatMap(({ exported, hidden }) => [exported, hidden]));
  return [
    ...[...entries].map(([name, { exported }]) => `// ${name}: ${[...exported.keys()].join(', ')}\n`),
    ...all.map(({ text }) => `${bare(text)}\n`),
  ].join('\n');
}

/** Without comments: a golden file shows what changes for a program. */
function bare(text: string): string {
  return text.replaceAll(/^\s*\/\*\*[^]*?\*\/\n/gm, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const [path, text] of apiFiles(root)) writeFileSync(join(root, path), text);
}
