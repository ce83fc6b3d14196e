// @module-tag all
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/text/json.ts';
import { limitNotice } from '../../src/runtimes/shared/limit-notice.ts';
import { compose } from '../../src/engine/compose.ts';
import { installChaosAgent, type ChaosEntry } from '../support/chaos-agent.ts';
import { testHost } from '../support/test-host.ts';
import { NO_KEYS, PRINTERS, runtimeOf } from './chaos-bench.ts';

const root = mkdtempSync(join(tmpdir(), 'squad-chaos-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const agent = installChaosAgent(join(root, 'bin'), { seed: 1 });

interface Said {
  readonly code: number | null;
  readonly lines: Record<string, unknown>[];
  readonly stderr: string;
}

function call(args: readonly string[], entry: ChaosEntry, stdin: string): Said {
  agent.plan({ turns: [entry] });
  const env = { PATH: process.env['PATH'], HOME: root };
  const { status, stdout, stderr } = spawnSync(agent.path('agy'), args, { env, input: stdin, encoding: 'utf8' });
  const lines = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code: status, lines, stderr };
}

const FLAGS = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--add-dir', root];
const PROMPT = `${JSON.stringify({ event: 'user', message: { role: 'user', content: 'go on' } })}\n`;
const turn = (entry: ChaosEntry, more: readonly string[] = []): Said => call([...FLAGS, ...more], entry, PROMPT);

describe('the chaos-agent as agy, by the shapes of transcripts', () => {
  it('prints nothing that the transcripts do not have: the same events, with the same fields', () => {
    const known = shapesOf(transcripts());
    for (const mode of ['honest', 'hits-a-limit', 'dies-at-work', 'usage-huge']) {
      for (const [where, fields] of shapesOf(turn({ mode }).lines)) {
        expect([where, [...fields].filter((field) => known.get(where)?.has(field) !== true)]).toEqual([where, []]);
      }
    }
  });

  it('ends a turn with its result, and counts over the whole conversation', () => {
    const first = turn({ mode: 'honest', text: 'It is done.' });
    expect(first.code).toBe(0);
    const result = resultOf(first);
    expect(result).toMatchObject({ status: 'SUCCESS', response: 'It is done.', usage: { output_tokens: 40 } });
    const id = String(result['conversation_id']);
    const second = resultOf(turn({ mode: 'honest' }, ['--conversation', id]));
    expect(second).toMatchObject({ conversation_id: id, num_turns: 2, usage: { output_tokens: 80 } });
  });

  it('begins anew, with exit 0, where it does not know the conversation', () => {
    const unknown = '4eeb7dfd-0000-4000-8000-000000000000';
    const said = turn({ mode: 'honest' }, ['--conversation', unknown]);
    expect([said.code, resultOf(said)['conversation_id'] === unknown]).toEqual([0, false]);
  });

  it('tells a quota with exit 3, on both streams, in the words of the transcript', () => {
    const { code, lines, stderr } = turn({ mode: 'hits-a-limit' });
    expect(code).toBe(3);
    const words = (text: string): string[] =>
      text.split('\n').map((line) => line.replace(/,"error_id".*/, '').replace(/\}$/, ''));
    expect(words(stderr)).toEqual(words(readFileSync(captured('quota.err'), 'utf8')));
    const told = resultOf({ code, lines, stderr })['error'];
    expect(limitNotice(String(told), 0)).toMatchObject({ kind: 'quota-exhausted', retryAt: (34 * 60 + 13) * 1000 });
  });

  it('refuses an unknown flag with exit 2', () => {
    expect(turn({ mode: 'honest' }, ['--strange'])).toMatchObject({ code: 2, lines: [] });
  });
});

describe('the chaos-agent on PATH', () => {
  it.each([...PRINTERS, 'agy'] as const)('is found and proved as %s', async (cli) => {
    const environment = {
      PATH: `${agent.folder}:${process.env['PATH']}`,
      HOME: root,
      ...NO_KEYS,
    };
    const probe = await compose(testHost(root, { environment })).runtime(runtimeOf(cli)).probe();
    expect(probe).toMatchObject({
      ok: true,
      version: probe.tested ?? probe.floor,
      login: 'ok',
      binary: agent.path(cli),
    });
  });

  it('draws the same modes from the same seed, and others from another', () => {
    const drawn = (seed: number, folder: string): string[] => {
      const drawing = installChaosAgent(join(root, folder), { seed });
      for (const input of ['one', 'one', 'two', 'three', 'four']) {
        const env = { PATH: process.env['PATH'], HOME: root };
        spawnSync(drawing.path('claude'), ['-p', '--verbose'], { env, input });
      }
      return drawing.turns().map(({ mode }) => mode);
    };
    const first = drawn(5, 'first');
    expect(first).toHaveLength(5);
    expect(drawn(5, 'second')).toEqual(first);
    expect(drawn(6, 'third')).not.toEqual(first);
  });
});

function captured(name: string): string {
  return new URL(`../fixtures/captures/agy/${name}`, import.meta.url).pathname;
}

function transcripts(): Record<string, unknown>[] {
  return readdirSync(captured('.'))
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(captured(name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The fields of each object, by where it stands: `result.usage` has `input_tokens`, and so on. */
function shapesOf(lines: readonly Record<string, unknown>[]): Map<string, Set<string>> {
  const shapes = new Map<string, Set<string>>();
  const visit = (where: string, value: unknown): void => {
    if (!isJsonObject(value)) return;
    const fields = shapes.get(where) ?? new Set();
    shapes.set(where, fields);
    for (const [name, inner] of Object.entries(value)) {
      fields.add(name);
      if (name !== 'parameters') visit(`${where}.${name}`, inner);
    }
  };
  for (const line of lines) visit(String(line['event']), line);
  return shapes;
}

function resultOf({ lines }: Said): Record<string, unknown> {
  return lines.at(-1)?.['result'] as Record<string, unknown>;
}
