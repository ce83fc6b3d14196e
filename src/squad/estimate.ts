import { openMachine, type Machine } from '../engine/machine.ts';
import type { Estimate } from '../model/plan/estimate.ts';
import { readEstimate } from '../view/estimate.ts';
import { lookIn, openWorkspace, type Place } from './open-workspace.ts';

/** A forecast of what a run with this playbook takes, by earlier ones of the repository; null: there are too few. `except`: the run itself. */
export async function estimateFor(
  { host, composition }: Place<Machine>,
  of: Parameters<typeof readEstimate>[1],
): Promise<Estimate | null> {
  const workspace = await openWorkspace({ host, composition: composition ?? openMachine(host) });
  return lookIn(workspace, (ledger) => readEstimate(ledger, of)) ?? null;
}
