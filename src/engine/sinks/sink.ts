import type { Forge } from '../../substrate/ports/forge.ts';
import type { Lease, Ledger } from '../../substrate/ports/ledger.ts';
import type { Workspaces } from '../../substrate/ports/workspaces.ts';
import type { KeepsFolder, MakesFolder } from '../../model/folder.ts';
import type { Limits } from '../../model/limits.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Board } from '../../model/plan/board.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { PublishFacts, RunDefinition } from '../../model/run.ts';
import type { RunState } from '../../model/run-state.ts';
import type { RunFile } from '../../view/report/files/run-file.ts';
import type { OperationPorts } from '../operations/operation-ports.ts';

/** A state of a run. `running`: an engine works on it; otherwise how its engine has ended its work. */
export interface Moment {
  readonly board: Board;
  readonly state: RunState;
}

/** A sink of one run. Both functions write what has changed, and throw the first error after they have written what they can. */
export interface OpenSink {
  /** Absolute. */
  readonly folder: string;
  /** While the run moves on, and at its end. */
  readonly write?: (moment: Moment) => Promise<void>;
  /** The report of the run, as files for the folder of the run. */
  readonly report?: (files: readonly RunFile[]) => Promise<void>;
  /** Help for a person if the folder is not complete at the end; absent: the next engine writes it. */
  readonly next?: string;
}

export interface SinkPorts {
  readonly ledger: Pick<Ledger, 'events' | 'lastSeq' | 'mail' | 'run' | 'attempt' | 'settlement' | 'segments'>;
  readonly playbook: Pick<Playbook<unknown>, 'files' | 'stages'>;
  readonly workspaces: Pick<Workspaces, 'readFileAt'>;
  readonly redactor: Redactor;
  /** Absent: the run leaves the folder that it was started on as it is, or was started on none. */
  readonly keeps?: KeepsFolder | undefined;
  readonly warn: (text: string) => void;
}

/** The run of a sink. */
export interface SinkOf {
  readonly lease: Lease;
  readonly definition: RunDefinition;
  readonly limits: Limits;
  /** Its own folder, with what people read. */
  readonly folder: string;
}

/** Delivered before by other sinks; and what makes the folder of a run without a branch. */
interface Publishing {
  readonly facts: PublishFacts;
  readonly makes: MakesFolder | undefined;
}

export interface SinkWork {
  /** Delivers once, before the run is over: `problem` makes it fail. Safe to repeat. */
  readonly publish?: (ports: OperationPorts, board: Board, publishing: Publishing) => Promise<Partial<PublishFacts>>;
  /** undefined: this run has none. */
  readonly open?: (ports: SinkPorts, of: SinkOf) => OpenSink | undefined;
  /** Its files say how the run ended, problems of the other sinks included: it is written last, and its own problems are warnings. */
  readonly isLast?: true;
}

/** Where a run leaves something for people and programs. */
export interface Sink {
  /** For the help, in one line. */
  readonly about: string;
  /** Throws `wrong-environment` for a run that it could not publish, before any work. */
  readonly admit?: (forge: Forge, definition: Pick<RunDefinition, 'publish' | 'name' | 'repository'>) => Promise<void>;
  /** When an engine starts: the help and other commands do without. */
  readonly load: () => Promise<SinkWork>;
}
