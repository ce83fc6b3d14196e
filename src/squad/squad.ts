import { compose, type Additions, type Host } from '../engine/compose.ts';
import type { RunningRun } from '../view/running-run.ts';
import type { RunStatus } from '../view/status.ts';
import type { Answered, AnswerOptions } from './answer.ts';
import type { ForkedRun, ForkOptions } from './fork.ts';
import type { InterventionRequest } from '../model/plan/verbs.ts';
import type { Intervened } from './intervene.ts';
import type { CommandOptions } from './command-key.ts';
import { readMachine, type MachineOptions } from './machine.ts';
import type { ObjectiveSource } from './sources/source-of.ts';
import type { TrustOption } from './new-run.ts';
import type { Place } from './open-workspace.ts';
import type { Reloaded } from './reload.ts';
import type { SquadPrompts } from './repository-prompts.ts';
import type { ResumeOptions, RunOptions } from './run.ts';
import type { RunSummary } from '../view/run-summary.ts';
import type { QueuedRun } from '../view/queue.ts';
import type { Stopped, StopOptions } from './stop.ts';
import type { SubmitOptions, SubmittedRun } from './submit.ts';
import { defined } from '../text/defined.ts';

/** `runtimes` and `playbooks` by the names that `squad.yaml` uses, besides those of squad. */
export interface SquadOptions extends MachineOptions, Additions {}

/**
 * The runs of one repository, as the command line has them. Each method rejects with a `SquadError` that says what is wrong
 * and what to do next; any other error is a bug. `run` names a run by its name, its id or the caller's own id; by default it is
 * the one that is running, or the newest. Prints nothing, handles no signal and ends no process.
 */
export interface Squad {
  /** Starts a run once everything that can be checked before is in order. Rejects before a run exists if it is not. */
  run(objective: ObjectiveSource, options?: RunOptions): Promise<RunningRun>;
  /**
   * Continues a run that waited, stopped, was interrupted or lost its engine, and lifts a pause of the whole run; by default the
   * one that needs it most. Rejects with `workspace-busy` while an engine runs, and with `usage` if the run is over.
   */
  resume(run?: string, options?: ResumeOptions): Promise<RunningRun>;
  /** Makes a run that no engine drives use `setup`, `verify` and limits as `squad.yaml` has them now. */
  reload(run?: string, options?: TrustOption): Promise<Reloaded>;
  /**
   * Records a run that no engine has yet: `squad run`, `squad resume --all` or `squad serve` starts it. Checks and refuses what `run` does,
   * but for an engine at work. The same `key` again is the same run.
   */
  submit(objective: ObjectiveSource, options?: SubmitOptions): Promise<SubmittedRun>;
  /** The runs that wait for an engine, the next one first. */
  queue(): Promise<QueuedRun[]>;
  /** All runs of the repository, the newest first; empty where nothing ran yet. */
  runs(): Promise<RunSummary[]>;
  /** Equals the output of `squad status --json`. */
  status(run?: string): Promise<RunStatus>;
  /**
   * Answers a question of a run; without `question` (its id) the only open one. For a question with options, the answer has to
   * be one of them. An engine that drives the run continues at once, else `resume` does.
   */
  answer(run: string | undefined, answer: string, question?: string, options?: AnswerOptions): Promise<Answered>;
  /** Records a command to a run, and waits up to ten seconds until its engine, if one is running, has applied it. */
  intervene(run: string | undefined, request: InterventionRequest, options?: CommandOptions): Promise<Intervened>;
  /**
   * Makes a new run that begins with all that this one had decided at an event, and leaves this one as it is. `resume` starts the
   * fork. Rejects with `bad-input` if nothing was decided by then or its commits are gone.
   */
  fork(run: string | undefined, options: ForkOptions): Promise<ForkedRun>;
  /**
   * Ends the turns of a run and its engine, wherever it runs, within 30 s. No process of the run is left then. Rejects with
   * `usage` if the run is over.
   */
  stop(run?: string, options?: StopOptions): Promise<Stopped>;
  /** The texts that agents get, as `squad prompts` has them. */
  readonly prompts: SquadPrompts;
}

/**
 * A squad for the repository at or above `cwd`. Reads nothing but the options and the process's environment; every other
 * problem is found by its methods. Throws `bad-input` for a name that cannot be registered, and `wrong-environment` on Windows.
 */
export function createSquad({ runtimes, playbooks, ...machine }: SquadOptions = {}): Squad {
  return squadOn(readMachine(machine), defined({ runtimes, playbooks }));
}

/** As `createSquad`, for the command line, which has read its host before. */
export function squadOn(host: Host, additions: Additions = {}): Squad {
  const place: Place = { host, composition: compose(host, additions) };
  // Each method loads its own code: a status needs no preflight, and only an engine needs the graph.
  return {
    run: async (objective, options = {}) => (await import('./run.ts')).run(place, objective, options),
    resume: async (run, options = {}) => (await import('./run.ts')).resume(place, run, options),
    reload: async (run, options = {}) => (await import('./reload.ts')).reload(place, run, options),
    submit: async (objective, options = {}) => (await import('./submit.ts')).submit(place, objective, options),
    queue: async () => (await import('./queue.ts')).readQueue(place),
    runs: async () => (await import('./runs.ts')).listRuns(place),
    status: async (run) => (await import('./status.ts')).readStatus(place, run),
    answer: async (run, given, question, options) =>
      (await import('./answer.ts')).answer(place, run, given, question, options),
    intervene: async (run, request, options) =>
      (await import('./intervene.ts')).intervene(place, run, request, options),
    fork: async (run, options) => (await import('./fork.ts')).fork(place, run, options),
    stop: async (run, options) => (await import('./stop.ts')).stop(place, run, options),
    prompts: promptsOn(place),
  };
}

/** Each method loads the code of prompts. */
function promptsOn(place: Place): SquadPrompts {
  return {
    list: async () => (await promptsOf(place)).list(),
    show: async (name) => (await promptsOf(place)).show(name),
    eject: async (name, options) => (await promptsOf(place)).eject(name, options),
    diff: async (name) => (await promptsOf(place)).diff(name),
  };
}

async function promptsOf(place: Place): Promise<SquadPrompts> {
  return (await import('./repository-prompts.ts')).promptsAt(place);
}
