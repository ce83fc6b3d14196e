import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCheckpoints, type CheckpointStore } from '../../src/engine/checkpoints.ts';
import { LinearSaver } from '../../src/graph/linear-saver.ts';
import { ALL, LANE } from '../support/lane.ts';
import { PROJECT } from './installed.ts';

/** Its dependency is an older vitest, of which it needs no more than the names that it finds in the global scope. */
const SUITE = '@langchain/langgraph-checkpoint-validation@1.1.1';
/** So many cases it had when this was written. */
const CASES = 718;

const WHOLE = 'should only store channel_values that have changed (based on newVersions)';
const AGAIN = 'should migrate pending sends';

/** By case, why it is left out. `at`: which one of that title, from 1. */
type Skips = Readonly<Record<string, { readonly why: string; readonly at: number }>>;
const OF_STORE: Skips = {
  [WHOLE]: { why: 'LangGraph’s own SQLite saver stores the whole state with each checkpoint', at: 1 },
};
const OF_SAVER: Skips = {
  [WHOLE]: {
    why: 'its checkpoints have no parent, and a thread is linear: a second one without a parent is refused',
    at: 1,
  },
  [AGAIN]: {
    why: 'begins a thread that is there already, which is refused; two more cases of the title run',
    at: 2,
  },
};

type Opened = Readonly<{ saver: BaseCheckpointSaver; close(): void }>;
interface Suite {
  validate(initializer: {
    readonly checkpointerName: string;
    createCheckpointer(): BaseCheckpointSaver;
    destroyCheckpointer(saver: BaseCheckpointSaver): void;
  }): void;
}

const folder = mkdtempSync(join(tmpdir(), 'squad-validation-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** undefined: the package registry cannot be reached. */
async function fetchSuite(): Promise<Suite | undefined> {
  const flags = ['--prefer-offline', '--silent', '--fetch-timeout=10000', '--fetch-retries=0'];
  const packed = spawnSync('npm', ['pack', SUITE, ...flags], { cwd: folder, encoding: 'utf8' });
  if (packed.status !== 0) return undefined;
  const unpacked = spawnSync('tar', ['-xzf', packed.stdout.trim()], { cwd: folder, encoding: 'utf8' });
  if (unpacked.status !== 0) throw new Error(unpacked.stderr);
  // One copy of LangGraph's checkpoints, which is this project's.
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  return (await import(pathToFileURL(join(folder, 'package/dist/index.js')).href)) as Suite;
}

/** Registers the cases of the suite for one saver. Gives their titles, once they are all there. */
function register({ validate }: Suite, name: string, skips: Skips, open: () => Opened): readonly string[] {
  const seen: string[] = [];
  const one = (title: string, work: () => Promise<void>): void => {
    seen.push(title);
    const { why, at } = skips[title] ?? {};
    if (seen.filter((before) => before === title).length === at) it.skip(`${title} (left out: ${why})`, work);
    else it(title, work);
  };
  const each = (rows: readonly unknown[]) => {
    seen.push(...rows.map(String));
    return it.each(rows);
  };
  // A block is run later than it is registered, and by then the names could be those of another saver.
  const inBlock =
    <Given extends unknown[]>(work: (...given: Given) => void) =>
    (...given: Given): void => {
      Object.assign(globalThis, names);
      work(...given);
    };
  const block = Object.assign((title: string, work: () => void) => describe(title, inBlock(work)), {
    each: (rows: readonly unknown[]) => (title: string, work: (row: unknown) => void) =>
      describe.each(rows)(title, inBlock(work)),
  });
  const hooks = { beforeAll, afterAll, beforeEach, afterEach };
  const names = { ...hooks, expect, describe: block, it: Object.assign(one, { each, skip: it.skip }) };
  Object.assign(globalThis, names);
  const closing = new Map<BaseCheckpointSaver, () => void>();
  validate({
    checkpointerName: name,
    createCheckpointer: () => {
      const { saver, close } = open();
      closing.set(saver, close);
      return saver;
    },
    destroyCheckpointer: (saver) => closing.get(saver)?.(),
  });
  return seen;
}

function openStore(): { store: CheckpointStore; close(): void } {
  const directory = mkdtempSync(join(folder, 'checkpoints-'));
  const { store, close } = openCheckpoints(directory);
  return { store, close };
}

const suite = LANE === 'all' ? await fetchSuite() : undefined;
const named = LANE === 'all' ? ' (left out: the package registry cannot be reached)' : '';

describe.skipIf(suite === undefined)(`LangGraph’s validation of checkpointers${suite ? '' : named}`, ALL, () => {
  let cases: (readonly string[])[] = [];
  if (suite !== undefined) {
    const ofStore = register(suite, 'the store of checkpoints', OF_STORE, () => {
      const { store, close } = openStore();
      return { saver: store, close };
    });
    const ofSaver = register(suite, 'the saver of an engine', OF_SAVER, () => {
      const { store, close } = openStore();
      return { saver: new LinearSaver(store), close };
    });
    cases = [ofStore, ofSaver];
  }

  it('was done whole', () => {
    expect(cases.map(({ length }) => length)).toEqual([CASES, CASES]);
  });
});
