import { describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import { PROMPT_NAMES } from '../../../src/prompts/read-change.ts';
import { promptsOfRuntimes, type PromptName } from '../../../src/prompts/render.ts';
import { codexCommand } from '../../../src/runtimes/codex/command.ts';
import { repairOf } from '../../../src/runtimes/shared/text-answer.ts';
import { promptFor, skillList, withAnswer } from '../../../src/runtimes/shared/turn-prompt.ts';
import { factsOf, requestOf } from '../codex/support.ts';

type RuntimePrompt = Extract<PromptName, `runtime/${string}`>;
type Prompts = TurnRequest['prompts'];

const session = { runtime: 'codex', id: 's', home: '/h', workspace: '/before', instructionsHash: 'x' };
const outputSchema = { type: 'object', properties: { summary: { type: 'string' } } };
const optional = { outputSchema, outputIsOptional: true } as const;
const skill = { name: 'notes', folder: '/skills/notes', description: 'Take  notes.', keys: [] };

/** The text that an agent gets in each case, and a fact of others that it holds. */
const TEXTS: Record<RuntimePrompt, readonly [textOf: (prompts: Prompts) => string | Promise<string>, holds: string]> = {
  'runtime/moved': [(prompts) => promptFor(requestOf({ prompts, session })), 'now /w/tree (before: /before)'],
  'runtime/notes': [
    (prompts) => promptFor(requestOf({ prompts }), [{ name: 'AGENTS.md', text: 'House rule.' }]),
    '\nHouse rule.\n',
  ],
  'runtime/skills': [
    (prompts) => skillList([skill], prompts).join(),
    '- notes: Take notes. (file: /skills/notes/SKILL.md)',
  ],
  'runtime/no-network': [instructionsOfCodex, 'EPERM'],
  'runtime/answer': [(prompts) => withAnswer('', requestOf({ prompts, outputSchema })), JSON.stringify(outputSchema)],
  'runtime/answer-again': [(prompts) => withAnswer('', requestOf({ prompts, session, ...optional })), ': summary.'],
  'runtime/repair': [(prompts) => repairOf('`a` is 2', prompts), '`a` is 2. Send'],
};

function instructionsOfCodex(prompts: Prompts): string {
  const made = codexCommand(requestOf({ prompts }), factsOf());
  return made.type === 'command' ? made.args.join('\n') : '';
}

it('knows each text that a runtime adds', () => {
  const names = PROMPT_NAMES.filter((name) => name.startsWith('runtime/'));
  expect(Object.keys(TEXTS).toSorted()).toEqual(names.toSorted());
});

describe.each(Object.entries(TEXTS))('%s', (name, [textOf, holds]) => {
  it('is squad’s own, with its facts', async () => {
    expect(await textOf(undefined)).toContain(holds);
  });

  it('is that of the repository where it has one', async () => {
    expect(await textOf({ [name]: 'Another text.' })).toContain('Another text.');
    expect(await textOf({ [name]: 'Another text.' })).not.toContain(holds);
  });
});

describe('the form of an answer', () => {
  it('asks for nothing beside what a turn owes', () => {
    const text = withAnswer('Do it.', requestOf({ outputSchema }));
    expect(text).toMatch(/^Do it\.\n\nEnd .* and with nothing before or after it:\n\{.*\}$/);
    expect(withAnswer('Do it.', requestOf(optional))).not.toContain('nothing before');
  });

  it('is not repeated in a session, but where the turn owes it', () => {
    expect(withAnswer('', requestOf({ session, ...optional }))).not.toContain('{');
    expect(withAnswer('', requestOf({ session, outputSchema }))).toContain('{');
    expect(withAnswer('Do it.', requestOf({ session }))).toBe('Do it.');
  });
});

it('a turn carries the changed texts of its runtime alone', () => {
  const changed = { 'runtime/moved': 'There.', 'mail/server': 'Mail.', 'author/first': 'Do.' };
  expect(promptsOfRuntimes(changed)).toEqual({ 'runtime/moved': 'There.' });
  expect(promptsOfRuntimes({ 'author/first': 'Do.' })).toBeUndefined();
});
