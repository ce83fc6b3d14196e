import { sha256Of } from '../../model/sha256.ts';
import type { Workspace } from '../../model/turn-request.ts';
import type { Checks } from '../checks/run-checks.ts';
import type { PublishFacts, RunDefinition } from '../../model/run.ts';
import type { Forge } from '../../substrate/ports/forge.ts';
import type { Lease, Ledger } from '../../substrate/ports/ledger.ts';
import type { Workspaces } from '../../substrate/ports/workspaces.ts';

/** The ignored files that folders of a run get. */
export interface Copies {
  /** As they were when the run began, whatever is there. */
  put(workspace: Workspace): Promise<void>;
  takeOut(workspace: Workspace): Promise<void>;
}

/** How the work of a run leaves the repository in which all of its repositories were joined. */
export interface Several {
  /** `head`: the work that was checked last. `found`: where the run branch is now. Safe to repeat. */
  deliver(work: {
    readonly head: string;
    readonly found: string | undefined;
  }): Promise<Partial<Pick<PublishFacts, 'head' | 'problem' | 'repositories'>>>;
  /** Pushes them and opens their pull requests, if `publish` asks for it. Safe to repeat. */
  publish(
    delivered: Pick<PublishFacts, 'repositories'>,
    report: () => string,
  ): Promise<Pick<PublishFacts, 'remote' | 'pr' | 'problem' | 'repositories'>>;
}

/** The context of every operation of a run. */
export interface OperationPorts {
  readonly ledger: Ledger;
  readonly lease: Lease;
  readonly definition: RunDefinition;
  readonly workspaces: Workspaces;
  readonly checks: Checks;
  readonly forge: Forge;
  /** Absent: the run works on one repository. */
  readonly several?: Several | undefined;
  /** Working folder of turns that need no repository. */
  readonly emptyFolder: string;
  /** The folders that hold a commit and what its `setup` made, and nothing else. */
  readonly pure: Set<string>;
  readonly copies: Copies;
  /** The programs that a command of `setup` names, as they are on this machine. Absent: nothing that it makes is used again. */
  readonly programsOf?: (command: string) => Promise<readonly string[]>;
  /** Says, in no record, that a command of `setup` had not to run. */
  readonly reused?: (order: { readonly task: string; readonly id: string; readonly text: string }) => void;
  /** Says something to a person that is in no record, once. */
  readonly warn?: (text: string) => void;
  /** Why the work failed where something was thrown; throws what ends the engine. Absent: everything does. */
  readonly fault?: (thrown: unknown) => Promise<string>;
}

/** Records results of the running operation as inputs, in one transaction. Returns the seq of the first. */
export type Note = (type: string, ...results: readonly unknown[]) => number;

/** An operation that the board asks for. */
export interface Due {
  /** A task's id, or begins with `@`, which no task id does. */
  readonly key: string;
  readonly work: (note: Note) => Promise<unknown>;
}

/** A part of a check's id. */
export function shortHash(text: string): string {
  return sha256Of(text).slice(0, 8);
}
