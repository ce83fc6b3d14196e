import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import type { Checks } from '../checks/run-checks.ts';
import { SquadError } from '../model/errors.ts';
import { RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import type { Forge } from '../substrate/ports/forge.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { Baseline, Workspaces } from '../substrate/ports/workspaces.ts';

/** What every operation of a run works with. */
export interface OperationPorts {
  readonly ledger: Ledger;
  readonly lease: Lease;
  readonly definition: RunDefinition;
  readonly workspaces: Workspaces;
  readonly checks: Checks;
  readonly forge: Forge;
  /** For turns that need nothing of the repository. */
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

/** On record once for a run; by the end of it there are thousands of events to look through. */
const known = new WeakMap<Lease, Baseline>();

/** What `allocate_workspace` put on record; undefined before that. */
export function readBaseline({ ledger, lease }: Pick<OperationPorts, 'ledger' | 'lease'>): Baseline | undefined {
  const before = known.get(lease);
  if (before !== undefined) return before;
  const event = ledger.events({ stream: lease.runId }).find(({ type }) => type === RUN_EVENTS.workspaceAllocated);
  if (event === undefined) return undefined;
  const { baseline } = factsSchema.parse(event.data);
  known.set(lease, baseline);
  return baseline;
}

export async function makeEmptyFolder({ emptyFolder }: OperationPorts): Promise<string> {
  await mkdir(emptyFolder, { recursive: true, mode: 0o700 });
  return emptyFolder;
}

/** Short, and a part of a check's id. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** The run branch's head. Throws once the branch is gone: somebody deleted it. */
export async function headOfRun({ workspaces, definition }: OperationPorts): Promise<string> {
  const head = await workspaces.runHead(definition.name);
  if (head !== undefined) return head;
  throw new SquadError({
    code: 'wrong-environment',
    message: `the branch squad/${definition.name} is gone`,
    next: `Find its last commit with \`git reflog\` or \`git for-each-ref refs/squad/${definition.name}\`, make it again with \`git branch squad/${definition.name} <commit>\`, and resume.`,
  });
}
