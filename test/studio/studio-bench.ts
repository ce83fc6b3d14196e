import { onTestFinished } from 'vitest';
import type { StateSnapshot } from '@langchain/langgraph';
import type { SquadStateValue } from '../../src/graph/state.ts';
import { readMachine } from '../../src/squad/machine.ts';
import { readPrompts } from '../../src/squad/prompts.ts';
import { createStudioView, type StudioView } from '../../src/studio/view.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry, type Step } from '../runs/run-script.ts';

const STEPS = commits({ 'one.txt': 'one\n' });

export function scriptWith(steps: readonly Step[] = STEPS): Entry[] {
  return [plan([piece('one')]), author('one', steps), APPROVE_ALL];
}

export interface StudioBench extends RunBench {
  readonly view: StudioView;
  /** A person agrees to the commands of a run here. */
  consent(): Promise<void>;
  runId(): string;
}

export async function openStudioBench(
  script: readonly Entry[] = scriptWith(),
  settings: Readonly<Record<string, unknown>> = {},
): Promise<StudioBench> {
  const bench = openRunBench({ script, settings });
  onTestFinished(() => bench.end());
  const host = hostOf(bench);
  const view = await createStudioView({ host });
  return {
    ...bench,
    view,
    consent: async () => {
      await readPrompts({ host }, 'objective.md', { runtime: 'scripted', trust: () => Promise.resolve(true) });
    },
    runId: () => {
      const ledger = bench.ledger();
      try {
        return ledger.runs().at(-1)?.id ?? '';
      } finally {
        ledger.close();
      }
    },
  };
}

function hostOf({ root, repository }: RunBench) {
  const environment = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: `${root}/state`, USER: 'ada' };
  return readMachine({ cwd: repository, environment });
}

/** Edits the state of a run as a client of Studio does. */
export async function editRun(bench: RunBench, id: string, edit: unknown): Promise<void> {
  const view = await createStudioView({ host: hostOf(bench) });
  await view.updateState(threadOf(id), edit);
}

export function threadOf(id: string, checkpoint?: string) {
  return { configurable: { thread_id: id, ...(checkpoint === undefined ? {} : { checkpoint_id: checkpoint }) } };
}

export function valuesOf(snapshot: StateSnapshot | undefined): SquadStateValue {
  return snapshot?.values as SquadStateValue;
}

export function checkpointOf(snapshot: StateSnapshot | undefined): string {
  return String(snapshot?.config.configurable?.['checkpoint_id']);
}

/** What the view says of the run itself. */
export function factsOf(snapshot: StateSnapshot): { notice?: string; driven?: boolean } {
  return (snapshot.metadata as { squad?: object } | undefined)?.squad ?? {};
}
