// @module-tag all
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../substrate/ledger/support.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The two files that a new action touches: its body, and its entry in the table. */
const PATCHES: Readonly<Record<string, readonly [before: string, added: string]>> = {
  'src/model/mail/bodies.ts': [
    'export const noteBody =',
    `export const estimateBody = z.looseObject({
  doc_path: pathSchema.describe('What the work is described in.'),
  hours_at_most: countSchema.exactOptional().describe('The longest time that is worth it, in hours.'),
});

`,
  ],
  'src/model/mail/kind-table.ts': [
    '] as const satisfies readonly MailKindEntry[];',
    `  {
    ...ask,
    name: 'estimate',
    action: 'estimate',
    verb: 'ask',
    body: bodies.estimateBody,
    answerTime: { from: 'read', ms: QUESTION_MS, silence: 'open' },
    line: ['doc_path'],
    command: { name: 'estimate', does: 'Ask how long something takes.', example: ['squad mail estimate --doc-path a.md'] },
    tool: { name: 'estimate', does: 'Ask how long something takes.' },
  },
`,
  ],
};

/** What a process that runs the patched sources finds out about the action. */
const PROBE = `
import { Command } from 'commander';
const { addMailCommands } = await import('./src/cli/mail/mail-commands.ts');
const { composeFlags } = await import('./src/cli/mail/draft.ts');
const { SENDING_TOOLS } = await import('./src/cli/mcp/sending-tools.ts');
const { MAIL_ACTIONS } = await import('./src/model/mail/kind.ts');
const { messageSchema } = await import('./src/model/mail/envelope.ts');
const { changesPlan, owesAnswer } = await import('./src/model/mail/effects.ts');
const { humanLine } = await import('./src/model/mail/human-line.ts');
const { protocolFiles } = await import('./scripts/protocol-docs.ts');
const { check } = await import('./test/model/mail/support.ts');
const program = new Command('squad');
addMailCommands(program, {});
const command = program.commands.find((one) => one.name() === 'estimate');
const draft = composeFlags('estimate', { to: ['A'], docPath: 'a.md', hoursAtMost: 3 }, { now: 1, from: 'MAIN' });
const checked = check('MAIN', draft);
const refused = check('MAIN', { ...draft, body: '{}' });
const tool = SENDING_TOOLS.find(({ name }) => name === 'estimate').schema().properties;
const files = protocolFiles('.');
const said = { type: 'ask', action: 'estimate' };
console.log(JSON.stringify({
  flags: command.options.map(({ long }) => long),
  draft,
  fields: checked.draft?.fields,
  refused: refused.refusal,
  toolField: tool.hours_at_most?.description,
  known: [MAIL_ACTIONS.includes('estimate'), messageSchema.shape.action.unwrap().options.includes('estimate')],
  effects: { changesPlan: changesPlan(said), owesAnswer: owesAnswer(said) },
  line: humanLine({ from: 'MAIN', to: ['A'], ...said }, draft.body, 'en'),
  page: /\\| estimate \\| .ask. \\| .estimate. \\|/.test(files.get('docs/protocol.md')),
  schema: files.has('docs/schemas/body-estimate.schema.json'),
}));
`;

it('a new action touches two files, and commands, tools, checks, documentation and the one-line text know it', () => {
  const folder = join(temporaryFolder(), 'squad');
  for (const name of ['src', 'scripts', 'docs', 'test/model/mail', 'package.json']) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, [before, added]] of Object.entries(PATCHES)) {
    const text = readFileSync(join(folder, path), 'utf8');
    expect(text.split(before)).toHaveLength(2);
    writeFileSync(join(folder, path), text.replace(before, `${added}${before}`));
  }
  expect(changedFiles(folder)).toEqual(Object.keys(PATCHES).toSorted());

  writeFileSync(join(folder, 'probe.mjs'), PROBE);
  const stdout = execFileSync(process.execPath, ['probe.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(JSON.parse(stdout)).toMatchObject({
    flags: expect.arrayContaining(['--to', '--doc-path', '--hours-at-most']),
    draft: { to: ['A'], type: 'ask', action: 'estimate' },
    fields: { doc_path: 'a.md', hours_at_most: 3 },
    refused: { reason: 'invalid_format', field: 'body.doc_path', rule: 'is required' },
    toolField: 'The longest time that is worth it, in hours.',
    known: [true, true],
    effects: { changesPlan: false, owesAnswer: true },
    line: 'from:MAIN | ask/estimate | to:A | task:- | says:a.md',
    page: true,
    schema: true,
  });
}, 60_000);

function changedFiles(folder: string): string[] {
  const names = readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => readFileSync(join(folder, path), 'utf8') !== readFileSync(join(ROOT, path), 'utf8'))
    .toSorted();
}
