import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Checks } from '../checks/run-checks.ts';
import { RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import type { Forge } from '../substrate/ports/forge.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { Baseline, Workspaces } from '../substrate/ports/workspaces.ts';

/** The context of every operation of a run. */
export interface OperationPorts {
  readonly ledger: Ledger;
  readonly lease: Lease;
  readonly definition: RunDefinition;
  readonly workspaces: Workspaces;
  readonly checks: Checks;
  readonly forge: Forge;
  /** Working folder of turns that need no repository. */
  readonly emptyFolder: string;
}

const factsSchema = z.object({
  branch: z.string(),
  base: z.string(),
  baseline: z.object({
    files: z.record(z.string(), z.string()),
    bytes: z.record(z.string(), z.string()),
    remotes: z.record(z.string(), z.string()).optional(),
  }),
});

/** A run records one baseline. This saves reading thousands of events for it. */
const known = new WeakMap<Lease, Baseline>();

/** The baseline that `allocate_workspace` recorded; undefined before that. */
export function readBaseline({ ledger, lease }: Pick<OperationPorts, 'ledger' | 'lease'>): Baseline | undefined {
  const before = known.get(lease);
  if (before !== undefined) return before;
  const event = ledger.events({ stream: lease.runId }).find(({ type }) => type === RUN_EVENTS.workspaceAllocated);
  if (event === undefined) return undefined;
  const { baseline } = factsSchema.parse(event.data);
  known.set(lease, baseline);
  return baseline;
}

/** A part of a check's id. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
