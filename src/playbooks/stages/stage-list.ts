import type { Requirement } from '../../model/plan/task.ts';
import type { Json } from '../../text/json.ts';

/** The way of a run through its work, as data. It was checked before a run began with it. */
export interface StageList {
  readonly stages: readonly Stage[];
  /** `stop`: a rejection with the same findings as the one before is the last, whatever rounds are left. Absent: `report`. */
  readonly whenNotConverging?: 'stop' | 'report';
  /** People see its tasks, and no stages. Only playbooks of squad set it. */
  readonly shows?: 'tasks';
}

export interface Stage {
  /** A letter, then letters, digits, `_` and `-`, at most 32. Its task has the same id in lower case, with `-` for `_`. */
  readonly id: string;
  /** Absent: made from the id. */
  readonly title?: string;
  /** Shown to people in place of the id, and the title of its task. Only playbooks of squad set it. */
  readonly shownAs?: string;
  /**
   * The first role that an agent has does the work. Of a stage that judges, each such role judges, and all must approve. Empty where
   * the engine runs commands, or a person judges.
   */
  readonly by: readonly string[];
  /** Each role of `by` that an agent has works on its document, one after the other: the first writes it, the others go over it. */
  readonly all?: true;
  /** Ids of stages. Absent: the stage before it. */
  readonly needs?: readonly string[];
  /** Markdown with `{objective}`, `{criteria}`, `{constraints}`, `{context}`, `{documents}`, `{of:STAGE}` and `{item}`. `{{` is a brace. */
  readonly brief: string;
  readonly makes: Makes;
  /** More checks by the engine, for a document or code. */
  readonly requires?: readonly StageRequirement[];
  /** Several are made in their order, on one commit: each opens once the one before has approved. */
  readonly review?: StageReview | readonly StageReview[];
  /** A task for each entry of that stage's answer `tasks`. */
  readonly each?: { readonly of: string };
  /** How often it may reject, and what follows a rejection: the stage again, or a fix like a task of the stage. */
  readonly judges?: { readonly rounds: number; readonly else: { readonly redo: string } | { readonly fix: string } };
  /**
   * The session of its task: a new one, that of its agent, or that of the stage's task. Absent: `new`. `thread`, which playbooks of
   * squad alone set: one agent does all such stages of its role, one after the other in one session.
   */
  readonly session?: 'new' | 'role' | 'thread' | { readonly of: string };
  /** Roles that its agent may ask for advice by mail, and how many questions count, for each entry if it has any. Absent: all, any number. */
  readonly asks?: { readonly of: readonly string[]; readonly most: number };
  /** On failure. `skip`: stages that need it continue without it. Absent: `stop`. */
  readonly onFail?: 'stop' | 'skip';
  /** It was done before the run, which has no task of it. Playbooks of squad alone set it. */
  readonly isDone?: true;
}

/** `only`: nothing else changed than these files, folders and patterns like `*.md`. `pr`: a pull request is open at its commit. `subject`: of each commit; only playbooks of squad. */
export type StageRequirement =
  | { readonly only: readonly string[] }
  | { readonly file: string }
  | { readonly pr: true }
  | { readonly subject: Omit<Extract<Requirement, { kind: 'subject' }>, 'kind'> };

export interface StageReview {
  readonly id: string;
  readonly by: readonly string[];
  /** Absent: `all`. */
  readonly quorum?: 'all' | 'any';
  /** Absent: the rounds of the run's reviews. */
  readonly rounds?: number;
  /** The stage whose agent reviews, in the session of its task. Absent: each reviewer has a session of its own. */
  readonly session?: { readonly of: string };
  /** The categories of which a rejection names one, and what follows. Absent: it names none, and leads back to the author. */
  readonly reopens?: Readonly<Record<string, Reopens>>;
}

/** `block` ends the work. A stage is done again, and then the work that was rejected. */
export type Reopens = 'author' | 'block' | { readonly stage: string };

type Makes =
  /** The path is within the folder of the run's documents. Only this file may change. */
  | { readonly document: string; readonly headings?: readonly string[]; readonly answer?: string }
  /** Several of them in one turn, each with text of its own. */
  | { readonly documents: readonly string[] }
  /** Only playbooks of squad say more than `code`: that it answers as well, and that it may be done without a change. */
  | { readonly code: true; readonly answer?: string; readonly mayChangeNothing?: true }
  /** A JSON Schema, or the name of a form: `tasks`, `verdict`, or one of its playbook. */
  | { readonly answer: string | { readonly [key: string]: Json } }
  /** A person judges the work so far. */
  | { readonly approval: true }
  /** Commands that the engine runs. `criteria`: those of the objective's criteria. */
  | { readonly checks: 'criteria' | readonly string[] }
  /**
   * A commit of what the stage before left, if its author does not commit. Left out if there is nothing to commit. Only playbooks of squad
   * have it answer as well.
   */
  | { readonly commit: true; readonly answer?: string }
  /** The folder of the documents is gone, and nothing else has changed. Only playbooks of squad have it answer as well. */
  | { readonly removes: 'documents'; readonly answer?: { readonly [key: string]: Json } };
