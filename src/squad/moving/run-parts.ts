import { branchOf, type RunDefinition } from '../../model/run.ts';

/** The refs of a run in the user's repository. */
export interface RunRefs {
  /** Absent: the run delivers no work. Elsewhere it has to be where the ledger's copy has it, not where it is now. */
  readonly branch?: string;
  /** Kept work, the claim of the name, and pins: all refs below. */
  readonly below: string;
}

export function refsOfRun(definition: Pick<RunDefinition, 'name' | 'makesBranch'>): RunRefs {
  const branch = branchOf(definition);
  return {
    ...(branch === undefined ? {} : { branch: `refs/heads/${branch}` }),
    below: `refs/squad/${definition.name}/`,
  };
}
