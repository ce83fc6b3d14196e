import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { turnResultSchema, type TurnResult } from '../../src/model/turn-result.ts';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { fakeAcpRuntime } from './acp-harness.ts';
import { fakeAcpNotes, type FakeAsked } from './fake-acp-agent.ts';
import { FORBIDDEN, hostileScript } from './hostile-conversation.ts';
import { pidsOf, type InsidePid } from './inside-pids.ts';
import { killAll, markedPids } from './marked-pids.ts';
import { createRandom } from './random.ts';
import { openBench, type BenchParts } from './runtime-bench.ts';

/** Its limits are seconds; one that takes this long hangs. */
const HANGS_MS = 60_000;

/** One hostile conversation of this number, and everything that must not have come of it. */
export async function hostileTrial(seed: number): Promise<{ readonly result: TurnResult; readonly allowed: number }> {
  const random = createRandom(seed);
  const level = random() < 0.7 ? 'edit' : 'read-only';
  const asksPerson = random() < 0.3;
  let script: ReturnType<typeof hostileScript> = { turns: [] };
  let parts: BenchParts | undefined;
  const bench = await openBench((made) => {
    parts = made;
    const canaries = join(made.root, 'canaries');
    for (const folder of [canaries, join(canaries, 'inner')]) mkdirSync(folder);
    for (const file of ['one', 'inner/two']) writeFileSync(join(canaries, file), 'untouched');
    script = hostileScript(random, { level, canaries, turn: join(made.root, '.squad', 'turns', '1') });
    const path = join(made.root, 'script.json');
    writeFileSync(path, JSON.stringify(script));
    return { makeRuntime: () => fakeAcpRuntime(made, path), received: () => '' };
  });
  if (parts === undefined) throw new Error('there is no bench');
  const { root, stateDirectory } = parts;
  const turnId = `hostile-${process.pid}-${seed}`;
  try {
    const directory = await bench.directory();
    const own = [...(level === 'edit' ? [bench.workspace.path] : []), directory, join(stateDirectory, 'homes')];
    const before = contentsOf(root, own);
    const turn = bench.runtime().start(
      {
        turnId,
        workspace: bench.workspace,
        prompt: 'Please continue.',
        instructions: 'You are a member of a squad.',
        access: { level },
        mcp: [],
        ...(asksPerson ? { ask: 'human' as const } : {}),
        limits: {
          ...DEFAULT_TURN_LIMITS,
          wallMs: 20_000,
          idleMs: 2500,
          retryMs: 2500,
          maxOutputBytes: 64 * 1024 * 1024,
        },
      },
      { directory, onSpawned: () => Promise.resolve() },
    );
    const result = turnResultSchema.parse(await within(HANGS_MS, turn.result));
    const asked = fakeAcpNotes(stateDirectory, 'asked.jsonl').map((line) => JSON.parse(line) as FakeAsked);
    const started = fakeAcpNotes(stateDirectory, 'pids.jsonl').map((line) => JSON.parse(line) as InsidePid);
    const answers = fakeAcpNotes(stateDirectory, 'answers.jsonl').map((line) => JSON.parse(line) as Answer);
    const left = [...markedPids(turnId), ...pidsOf(started).filter((pid) => pid !== 0 && isIn(root, pid))];
    const wrong = [
      ...beyondPolicy(asked),
      ...changes(before, contentsOf(root, own)),
      ...forged(directory),
      ...left.map((pid) => `a process is left: ${pid}`),
      ...answers.filter(({ error }) => error?.code !== -32601).map((answer) => `answered: ${JSON.stringify(answer)}`),
    ];
    if (wrong.length > 0) throw new Error(`${wrong.join('\n')}\n${JSON.stringify(script).slice(0, 4000)}`);
    return { result, allowed: asked.filter((one) => allows(asked, one)).length };
  } finally {
    killAll(markedPids(turnId));
    rmSync(join(root, 'canaries'), { recursive: true, force: true });
    await bench.close();
  }
}

/** What the agent has written where only its host, its wrapper and people write. */
function forged(directory: string): string[] {
  const answers = readdirSync(directory).filter((name) => name.startsWith('answer-'));
  return answers.map((name) => `the agent has answered for a person: ${name}`);
}

interface Answer {
  readonly method: string;
  readonly error?: { readonly code: number };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs: no result after ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Permissions for what no policy allows, and any that is given by an option that may say no. */
function beyondPolicy(asked: readonly FakeAsked[]): string[] {
  return asked
    .filter((answer) => allows(asked, answer))
    .flatMap((answer) => {
      const request = requestOf(asked, answer);
      const id = String(request?.tool?.['toolCallId']);
      const named = optionsOf(request).filter(({ optionId }) => optionId === answer.result?.outcome?.optionId);
      const clear = named.length === 1 && /^[!-~]{1,256}$/.test(String(named[0]?.optionId));
      if (id.startsWith(FORBIDDEN)) return [`allowed beyond the policy: ${JSON.stringify(request).slice(0, 600)}`];
      return clear ? [] : [`allowed by an option that is not clear: ${JSON.stringify(answer)}`];
    });
}

function allows(asked: readonly FakeAsked[], answer: FakeAsked): boolean {
  const { outcome } = answer.result ?? {};
  if (answer.answerTo === undefined || outcome?.outcome !== 'selected') return false;
  const named = optionsOf(requestOf(asked, answer)).filter(({ optionId }) => optionId === outcome.optionId);
  // What was never offered is no better than an allowance.
  return named.length === 0 || named.some(({ kind }) => /^allow/i.test(String(kind)));
}

/** The request before the answer: a hostile agent uses an id again. */
function requestOf(asked: readonly FakeAsked[], answer: FakeAsked): FakeAsked | undefined {
  return asked.slice(0, asked.indexOf(answer)).findLast(({ id, at }) => at !== undefined && id === answer.answerTo);
}

/** Numbers of namespaces and the pids in them are used again at once: whoever works elsewhere is of another turn. */
function isIn(root: string, pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
  } catch {
    // It has ended since.
    return false;
  }
}

function optionsOf(request: FakeAsked | undefined): readonly { optionId?: unknown; kind?: unknown }[] {
  return [request?.options].flat().filter((option) => typeof option === 'object' && option !== null);
}

/** Every file, folder and link below a folder with what is in it, without what is below these. */
function contentsOf(root: string, without: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string): void => {
    if (without.includes(path)) return;
    const stats = lstatSync(path);
    if (stats.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    const hash = (): string => createHash('sha256').update(readFileSync(path)).digest('hex');
    found.set(path, stats.isSymbolicLink() ? readlinkSync(path) : stats.isFile() ? hash() : String(stats.mode));
  };
  visit(root);
  return found;
}

function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths]
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => `written outside of worktree and home: ${path}`);
}
