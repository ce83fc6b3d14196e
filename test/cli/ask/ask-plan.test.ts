import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askPlan } from '../../../src/cli/ask/ask-plan.ts';
import { askQuestion } from '../../../src/cli/ask/asking.ts';
import { editorCommand } from '../../../src/cli/ask/edit-plan.ts';
import type { Prompts } from '../../../src/cli/ask/prompts.ts';
import type { Proposal } from '../../../src/model/plan/proposal.ts';
import type { PlanReading } from '../../../src/model/plan.ts';

const PROPOSAL: Proposal = {
  ...{ number: 1, question: 'plan-1', open: true, fixing: false, summary: 'one', tasks: [], criteria: [] },
  answer: { summary: 'one', tasks: ['a'] },
};

/** Answers prompts in this order; undefined is Ctrl-C. */
function person(...answers: readonly (string | undefined)[]): Prompts & { readonly asked: string[] } {
  const left = [...answers];
  const asked: string[] = [];
  const next = (message: string): string | undefined => {
    asked.push(message);
    if (left.length === 0) throw new Error(`no answer to ${message}`);
    return left.shift();
  };
  return {
    asked,
    choose: async (message, choices) => {
      const answer = next(message);
      const chosen = choices.find(({ value }) => value === answer);
      if (answer !== undefined && chosen === undefined) throw new Error(`${answer} cannot be chosen in ${message}`);
      return chosen?.value;
    },
    write: async (message, _, refuse) => {
      const text = next(message);
      const why = text === undefined ? undefined : refuse?.(text);
      return why === undefined ? text : next(why);
    },
  };
}

async function play(
  prompts: Prompts,
  files: readonly string[] = [],
  check: (plan: unknown) => PlanReading = (plan) => ({ ok: true, answer: plan as never, ...PLAN }),
  answered = new AbortController(),
  first?: 'edit',
) {
  const kept: string[] = [];
  const shown: string[] = [];
  const said: string[] = [];
  const seen: string[] = [];
  const left = [...files];
  const stateDirectory = mkdtempSync(join(tmpdir(), 'squad-plan-'));
  onTestFinished(() => rmSync(stateDirectory, { recursive: true, force: true }));
  const ports = {
    prompts,
    stateDirectory,
    show: ({ summary }: { readonly summary: string }) => void shown.push(summary),
    say: (line: string) => void said.push(line),
    check: async (plan: unknown) => check(plan),
    edit: async (path: string) => {
      seen.push(readFileSync(path, 'utf8'));
      const text = left.shift();
      if (text === undefined) return 'no editor';
      writeFileSync(path, text);
      if (text.includes('answered meanwhile')) answered.abort();
      return undefined;
    },
    keep: async (written: string) => {
      kept.push(written);
      return Promise.resolve('runs/1/plan.yaml');
    },
  };
  const answer = await askPlan(PROPOSAL, ports, answered.signal, first);
  return { answer, shown, said, seen, kept };
}

const PLAN = { summary: 'edited', tasks: [], criteria: [] } as const;

describe('asking about a plan', () => {
  it.each([
    ['approve', ['approve'], 'approve'],
    ['stop, once it is sure', ['stop', 'no', 'stop', 'yes'], 'stop'],
    ['a change', ['change', 'make it one task'], 'make it one task'],
    ['a change that would be read as an option is asked again', ['change', 'Stop', 'stop after a'], 'stop after a'],
    ['Ctrl-C in a change goes back', ['change', undefined, 'approve'], 'approve'],
    ['Ctrl-C puts it off', [undefined], undefined],
    ['later', ['later'], undefined],
  ])('%s', async (_, answers, expected) => {
    expect((await play(person(...answers))).answer).toBe(expected);
  });

  it('shows an edited plan before it is approved, and answers with it', async () => {
    const played = await play(person('edit', 'approve'), ['{"tasks": ["b"]}']);
    expect(played.shown).toEqual(['one', 'edited']);
    expect(JSON.parse(played.answer ?? '')).toEqual({ tasks: ['b'] });
    expect(played.seen).toEqual([expect.stringContaining('summary: one')]);
  });

  it('has a plan with problems edited again, with the problems in the file', async () => {
    const check = (plan: unknown): PlanReading =>
      JSON.stringify(plan).includes('circle')
        ? { ok: false, problems: ['a circle: a, b'] }
        : { ok: true, answer: plan as never, ...PLAN };
    const prompts = person('edit', 'yes', 'approve');
    const played = await play(prompts, ['{"tasks": ["circle"]}', '{"tasks": ["right"]}'], check);
    expect(played.seen[1]).toMatch(/^#! This plan cannot be used:\n#! a circle: a, b\n{"tasks": \["circle"\]}/);
    expect(played.said).toContain('  - a circle: a, b');
    expect(played.answer).toContain('right');
  });

  it.each([
    ['an empty file', ['# nothing\n'], []],
    ['an editor that cannot be used', [], ['The plan stays as it was: no editor']],
  ])('leaves the plan as it was after %s', async (_, files, said) => {
    const played = await play(person('edit', 'approve'), files);
    expect(played).toMatchObject({ answer: 'approve', shown: ['one'], said });
  });

  it('keeps what was written if the question was answered meanwhile, and says where', async () => {
    const mine = '{"tasks": ["answered meanwhile"]}';
    const played = await play(person('edit'), [mine]);
    expect(played).toMatchObject({ answer: undefined, kept: [mine] });
    expect(played.said).toEqual(['Your version of the plan is kept in runs/1/plan.yaml.']);
  });

  it('keeps what was written for later, and names the command that answers with it', async () => {
    const played = await play(person('edit', 'later'), ['{"tasks": ["b"]}']);
    expect(played).toMatchObject({ answer: undefined, kept: ['{"tasks": ["b"]}'] });
    expect(played.said.at(-1)).toContain('`squad answer plan-1 --file runs/1/plan.yaml`');
    expect((await play(person('later'))).kept).toEqual([]);
  });

  it('opens the editor that the person has set', () => {
    expect(editorCommand({ EDITOR: 'code --wait' }, '/a b')).toEqual([
      ...['/bin/sh', '-c', 'code --wait "$@"', 'code --wait', '/a b'],
    ]);
    expect(editorCommand({ VISUAL: 'nano', EDITOR: 'ed' }, 'x')[2]).toBe('nano "$@"');
    expect(editorCommand({ VISUAL: ' ' }, 'x')[2]).toBe('vi "$@"');
  });
});

describe('asking a question', () => {
  const ask = async (options: readonly string[], freeText: boolean, ...answers: (string | undefined)[]) => {
    const said: string[] = [];
    const question = { id: 'q', text: 'so\u001b[2J?\nreally', options, freeText, recorded: null };
    const ports = { prompts: person(...answers), say: (line: string) => void said.push(line) };
    return { given: await askQuestion(question, ports, new AbortController().signal), said };
  };

  it.each([
    ['an option', ['try again', 'give up'], false, ['give up'], 'give up'],
    ['free text', [], true, ['the second one'], 'the second one'],
    ['Ctrl-C', ['try again'], false, [undefined], undefined],
    ['Ctrl-C in a text', [], true, [undefined], undefined],
    ['a text beside the options, after going back', ['yes'], true, ['\0write', undefined, '\0write', 'maybe'], 'maybe'],
  ])('%s', async (_, options, freeText, answers, given) => {
    expect((await ask(options, freeText, ...answers)).given).toBe(given);
  });

  it('shows nothing raw', async () => {
    expect((await ask(['yes'], false, 'yes')).said).toEqual(['so?', 'really']);
  });
});

describe('a person who wants to edit at once', () => {
  it('gets the editor first, then the plan with what they changed, and the question', async () => {
    const prompts = person('approve');
    const { answer, shown, seen } = await play(
      prompts,
      ['summary: two\ntasks: [a, b]\n'],
      undefined,
      undefined,
      'edit',
    );
    expect(answer).toBe('{"summary":"two","tasks":["a","b"]}');
    expect(seen).toHaveLength(1);
    expect(shown).toEqual([PLAN.summary]);
    expect(prompts.asked).toEqual(['Start your version of the plan?']);
  });

  it('leaves the question open where they change nothing', async () => {
    const prompts = person('later');
    const { answer, shown } = await play(prompts, [''], undefined, undefined, 'edit');
    expect({ answer, shown, asked: prompts.asked }).toEqual({
      answer: undefined,
      shown: [],
      asked: ['Start this plan?'],
    });
  });
});
