import type { Objective } from '../../model/objective.ts';
import type { Playbook, Playbooks } from '../../model/plan.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { RunDefinition } from '../../model/run.ts';
import type { RepositoryReport } from '../../substrate/ports/workspaces.ts';
import type { PlaybookRequest } from './playbook-choice.ts';
import type { SettingsRead } from './read-settings.ts';

/** Words, a file, an issue, or a folder that a run is asked for. */
export interface Source {
  /** Throws `workspace-busy` if a run that is not over has the same subject. Called before anything is read or loaded. */
  admit?(): void;
  /** Throws the one error about all that is wrong with it, or why no run may begin with it now. */
  read(repository: RepositoryReport): Promise<Given>;
  /** Throws `workspace-busy` if it is no longer as the run took it: another run may have changed it meanwhile. */
  refuseChanged?(run: RunDefinition): Promise<void>;
  /** Whether this run is about the same. */
  isOf(run: RunDefinition): boolean;
}

/** A source as it was read, with its secrets: which texts are none, the settings say. */
interface Given {
  /** Absent: all of them hold. */
  settings?(read: SettingsRead): SettingsRead;
  /** Throws for a secret in a fixed part, or a playbook that does not suit. */
  subject(request: PlaybookRequest, about: { own: Playbooks; read: SettingsRead; redactor: Redactor }): Subject;
}

/** The objective of a run and its playbook, as squad stores them. */
export interface Subject extends Pick<RunDefinition, 'source' | 'folder' | 'makesBranch'> {
  readonly objective: Objective;
  readonly playbook: Playbook<unknown>;
  /** Files whose secrets were left out. */
  readonly redacted: readonly string[];
  /** Names for the run if a person gives none: by the objective, or after its title. */
  readonly names: { readonly objective?: string | undefined; readonly title: string };
  /** The file of the objective; absent: it has none that a person could correct. */
  readonly file?: string;
  /** Where its deadline stands, and what helps once that has passed; absent: in the objective. */
  readonly deadlineIn?: { readonly file: string; readonly next: string };
}
