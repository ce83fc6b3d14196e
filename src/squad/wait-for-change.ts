import type { Machine } from '../engine/machine.ts';
import type { RunStatus } from '../view/status.ts';
import { runNamed, lookIn, openWorkspace, type Place } from './open-workspace.ts';
import { readCheckedStatus, type CheckedStatus } from './status.ts';
import { openMachine } from '../engine/machine.ts';

const LOOK_MS = 500;
/** Looks between two that read everything: an agent that asks for a tool leaves no event. */
const LOOKS = 10;

export interface Wait {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  /** Called at each look, with the ms that have passed. */
  readonly onLook?: ((passed: number, status: RunStatus) => void) | undefined;
}

/** The status of a run once it differs from what it was, needs a person or is over, or at the end of the wait. */
export async function waitForChange(
  { host, composition: composed }: Place<Machine>,
  run: string | undefined,
  { ms, signal, onLook }: Wait,
): Promise<CheckedStatus & { readonly changed: boolean }> {
  const composition = composed ?? openMachine(host);
  const workspace = await openWorkspace({ host, composition });
  const { clock } = composition;
  let found = await readCheckedStatus(workspace, run);
  const { runId } = found.status;
  const before = standOf(found.status);
  const seen = (): number => lookIn(workspace, (ledger) => ledger.lastSeq(runNamed(workspace, ledger, runId)?.id)) ?? 0;
  const begun = clock.monotonic();
  let last = seen();
  for (let looks = 1; !needsNoWait(found.status) && standOf(found.status) === before; looks += 1) {
    const passed = clock.monotonic() - begun;
    if (passed >= ms || signal?.aborted === true) return { ...found, changed: false };
    onLook?.(passed, found.status);
    await clock.sleep(Math.min(LOOK_MS, ms - passed), signal);
    const now = seen();
    if (now === last && looks % LOOKS !== 0) continue;
    last = now;
    found = await readCheckedStatus(workspace, runId);
  }
  return { ...found, changed: standOf(found.status) !== before };
}

/** It is over, or continues only once someone answers or resumes it. */
function needsNoWait({ outcome, waitingFor, asks }: RunStatus): boolean {
  return outcome !== null || asks.length > 0 || (waitingFor !== null && waitingFor.for !== 'time');
}

/** Changes where a person would call it a change. */
function standOf({ phase, outcome, stage, tasks, waitingFor, asks, held, criteria }: RunStatus): string {
  const rows = tasks.map(({ id, status, round }) => [id, status, round]);
  return JSON.stringify([phase, outcome, stage, rows, waitingFor, asks.map(({ id }) => id), held, criteria]);
}
