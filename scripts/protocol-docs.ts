// Updates docs/protocol.md and docs/schemas, with the one of squad.yaml, from the schemas: `npm run protocol`. It writes the text
// between two marks of the page; people write the rest.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { givenUpBody, nackSchema } from '../src/model/mail/bodies.ts';
import { draftSchema, messageSchema } from '../src/model/mail/envelope.ts';
import { statisticsSchema } from '../src/view/report/statistics.ts';
import { MAIL_KINDS } from '../src/model/mail/kind.ts';
import { stageListSchema } from '../src/playbooks/stages/stage-schema.ts';
import { refusalTable } from './protocol/refusals.ts';
import { settingsJsonSchema } from './protocol/settings.ts';
import * as tables from './protocol/tables.ts';

const PAGE = 'docs/protocol.md';

const SECTIONS: Readonly<Record<string, () => string>> = {
  draft: tables.draftTable,
  made: tables.madeTable,
  kinds: tables.kindTable,
  bodies: tables.bodySections,
  issue: tables.issueTable,
  nack: tables.nackTable,
  refusals: refusalTable,
  times: tables.timesTable,
};

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  draft: draftSchema,
  message: messageSchema,
  ...Object.fromEntries(MAIL_KINDS.map(({ name, body }) => [`body-${name.replaceAll('_', '-')}`, body])),
  'body-dead-letter': givenUpBody,
  nack: nackSchema,
};

/** The contents of each file, by its path from `root`. Keeps the text of the page that people wrote. */
export function protocolFiles(root: string): ReadonlyMap<string, string> {
  const page = readFileSync(join(root, PAGE), 'utf8');
  const written = Object.entries(SECTIONS).reduce((text, [name, make]) => withSection(text, name, make()), page);
  const schemas = Object.entries(SCHEMAS).map(([name, schema]): [string, object] => {
    return [name, tables.jsonSchemaOf(schema, `squad mail: ${name}`)];
  });
  const others: [string, object][] = [
    ['squad', settingsJsonSchema()],
    ['stages', tables.jsonSchemaOf(stageListSchema, 'squad.yaml: playbook')],
    ['statistics', tables.jsonSchemaOf(statisticsSchema, 'squad report --all --json')],
  ];
  const all = [...schemas, ...others].map(([name, schema]): [string, string] => {
    return [`docs/schemas/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`];
  });
  return new Map([[PAGE, written], ...all]);
}

function withSection(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: made by npm run protocol -->`, `<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${PAGE} has no section between “${begin}” and “${end}”`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const [path, text] of protocolFiles(root)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
