import type { Host } from '../engine/compose.ts';
import type { LimitOptions } from '../model/limit-table.ts';
import type { Objective } from '../model/objective.ts';
import { TEAM_PLAYBOOK } from '../model/playbook-name.ts';
import { SINKS } from '../model/tracing.ts';
import type { SquadError } from '../model/errors.ts';
import type { Squad } from '../squad/squad.ts';
import type { RunningRun } from '../view/running-run.ts';
import type { Flag, Given } from '../text/flags.ts';
import { allowed, duration, folders, origins, port, wholeNumber } from './option-values.ts';
import {
  PLAYBOOKS,
  RUNTIMES,
  JSON_OBJECT,
  JSON_LINES,
  PLAIN_LINES,
  NO_PAGER,
  RUN_FLAG,
  PLAYBOOK,
  NAME,
  YES,
  ATTACH,
  TUNNEL,
  WHO,
  FULL_ACCESS,
  ANY_RUN,
  NEW_RUN,
  BEGINNING,
  TRIES,
  STRICT,
  PLAN,
  INSTEAD,
  DETACH,
  DRIVE,
} from './flags.ts';
import type { Output } from './output.ts';
import type { LogLevel } from './render/event-level.ts';

/** Everything that a command may use, including the way to set its exit code. */
export interface CommandContext {
  readonly host: Host;
  readonly output: Output;
  readonly exit: (code: number) => void;
  /** Ends the process once all is printed, whatever still works in it. Absent: it ends by itself. */
  readonly leave?: () => void;
  /** How many events are printed. Results and errors always are. */
  readonly logLevel: () => LogLevel;
  /** A worker elsewhere does what is asked of the run. Absent: this machine does. */
  readonly remote?: Pick<Squad, 'intervene' | 'answer' | 'stop'>;
  /** The runs that this process drives, each with what is to be done first if squad breaks. Absent: squad may break unnoticed. */
  readonly engines?: Map<RunningRun, (error: SquadError) => void>;
}

/** Node and squad's own entry, as this process was started. */
export function ownProgram({ node }: Pick<Host, 'node'>): readonly string[] {
  return [node, ...process.argv.slice(1, 2)];
}

/** Flags of each command that has more than `--json`; types of its options follow from them. Commands with limits add these. */
export const FLAGS = {
  init: [
    [PLAYBOOK, `write the roster and the roles of this playbook too, one of ${PLAYBOOKS}; or sprint: a whole team`],
    ['--into <folder>', 'with --playbook sprint: the team’s folder, from the root of the repository (default: team)'],
    ['--skill', 'write a skill file instead, by which Claude Code and Codex start runs and bring back their work'],
    [YES, 'ask nothing; write what was found'],
    JSON_OBJECT,
  ],
  doctor: [['--trust', 'list each program that squad would start here, and what confines it'], JSON_OBJECT],
  demo: [
    ['--keep <folder>', 'create the repository here (default: a new temporary folder)'],
    ['--remove', 'remove the repository afterwards'],
    JSON_LINES,
  ],
  run: [
    ...NEW_RUN,
    TRIES,
    ...PLAN,
    ...BEGINNING,
    ['--session [folder]', 'play the session in this folder, without an objective; its files are kept up to date'],
    STRICT,
    ...INSTEAD,
    // The objective is in this ticket; the same id again continues the run.
    ['--ticket <path>'],
    ['--run-id <uuid>'],
    ...DRIVE,
    DETACH,
  ],
  'best-of': [...ANY_RUN, ...BEGINNING, STRICT, ...INSTEAD, ...DRIVE, DETACH],
  add: [
    ...NEW_RUN,
    TRIES,
    ...PLAN,
    ...BEGINNING,
    ['--session [folder]', 'play the session in this folder, without an objective'],
    STRICT,
    ['--key <key>', 'your own id of the run: a second `add` with it is the first'],
    ['--after <run>', 'begin with the result of this run, once it is done'],
    ['--priority <rank>', 'high, medium, low or a whole number (default: as the objective says)'],
    JSON_OBJECT,
  ],
  queue: [JSON_LINES],
  coordinate: [
    ['--into <folder>', 'the folder of the session (default: a new one in .workflow/.team)'],
    ['--resume', 'keep what is valid in the folder, and make what is missing'],
    ['--run', 'run the session once it is made, as `squad run --session` does'],
    ...WHO,
    [NAME, 'name of the run (default: `coordinate-` and the title)'],
    [YES, 'allow the commands in squad.yaml for this run, and with --run for the run of the session'],
    FULL_ACCESS,
    ...DRIVE,
  ],
  plan: [
    ...NEW_RUN,
    ...BEGINNING,
    ['--prompts', 'print the instructions and prompts of each role instead; no agent starts'],
    JSON_OBJECT,
  ],
  compare: [
    ['--prompts <folder>', 'a side: a folder with prompts, or `shipped` for squad’s own; give it twice', folders],
    ['--times <n>', 'runs of each side, alternating (default: 1); fewer than 5 show nothing', wholeNumber],
    ['--replan', 'let each run plan for itself, so that the prompts of the planner count (default: one plan for all)'],
    ...NEW_RUN,
    JSON_OBJECT,
  ],
  resume: [
    ['--agent <name>', 'resume only this paused agent'],
    ['--task <id>', 'resume only this paused task'],
    ['--all', 'resume every run here that needs an engine, until none can move; `squad serve` repeats it'],
    // Only those of the queue, from an engine that is about to end.
    ['--take-over'],
    ['--past-deadline', 'let turns start although the deadline of the objective has passed'],
    ['--reload', 'read setup, verify, limits and commands of criteria again; ask before new commands run'],
    [YES, 'agree to what the run does, and with --reload to what squad.yaml says, for this run'],
    ...DRIVE,
    DETACH,
  ],
  serve: [
    ['--detach', 'run the service in the background; the command ends once it serves'],
    ['--unit', 'print a unit of systemd for this repository, and start nothing'],
    [YES, 'agree to the schedules of squad.yaml, and to what their runs do, now and later'],
    JSON_OBJECT,
    // The service of --detach.
    ['--background'],
  ],
  request: [
    ATTACH,
    ['--wait [state]', 'wait until it is planned, or done (default: done), and do the work where no service does'],
    ['--key <key>', 'your own id of the request: a second one with it is the first'],
    [YES, 'with --wait: allow the commands in squad.yaml'],
    JSON_LINES,
  ],
  ask: [ATTACH, [YES, 'allow the commands in squad.yaml, if a run has to read it'], JSON_LINES],
  'action run': [[YES, 'allow the action as it is now'], JSON_OBJECT],
  backlog: [JSON_LINES],
  'sprint start': [
    ATTACH,
    ['--until <time>', 'wrap up then: 18:00, 2h (in so long) or 2026-11-27T18:00 (default: when its todos are done)'],
    ['--detach', 'return once the sprint is recorded; `squad serve` or an engine at work drives it'],
    [YES, 'allow the commands in squad.yaml for this run'],
    JSON_LINES,
  ],
  'sprint stop': [['--now', 'end the todos at work, too'], JSON_OBJECT],
  'serve check': [[YES, 'agree to the schedules, and to what their runs do, now and later'], JSON_OBJECT],
  fork: [
    ['--at <seq>', 'an event of the run (default: list where the fork can begin)', wholeNumber],
    [NAME, 'name of the new run and its branch (default: that of the run, with a number)'],
    JSON_OBJECT,
  ],
  eject: [['--force', 'replace the file that is there'], JSON_OBJECT],
  runs: [['--since <time>', 'one line over all runs since 18:00, 2h (so long ago) or 2026-11-27'], JSON_LINES],
  status: [
    ['--watch', 'show the run until it ends, as `squad watch` does'],
    ['--wait <duration>', 'first wait until something changes, at most that long, for example 50s', duration],
    JSON_OBJECT,
  ],
  watch: [
    ['--web', 'serve the run as a live page to browsers of this machine, until Ctrl-C'],
    ['--all', 'with --web: the runs of all repositories on this machine'],
    ['--port <n>', 'with --web: port on loopback (default: any free one)', port],
    [TUNNEL, 'with --web: also answer where squad cannot see which process asks, as through an SSH tunnel'],
    JSON_LINES,
    PLAIN_LINES,
  ],
  show: [RUN_FLAG, NO_PAGER, JSON_OBJECT],
  open: [['--print', 'print the path of the folder, and open nothing'], RUN_FLAG, JSON_OBJECT],
  log: [
    ['--follow', 'keep printing new events until the run ends'],
    ['--task <id>', 'only what is about this task'],
    ['--agent <name>', 'only what is about this agent'],
    ['--limit <n>', 'only the last lines; with --raw or --json: at most this many rows', wholeNumber],
    ['--raw', 'print the rows of the ledger, of all runs or of one'],
    ['--after <seq>', 'with --raw or --json: only rows after this one', wholeNumber],
    JSON_LINES,
  ],
  report: [
    ['--html', 'print the path of the same report as a page (report.html), which is made if it is missing'],
    ['--all', 'print statistics over all runs: completion, time, review rounds, recovery, turns, tokens and cost'],
    ['--json', 'print one JSON object with the path and text of the report, or with --all the statistics'],
  ],
  trace: [
    ['--to <sink>', 'where to (default: as the run was started, or as the environment says)', SINKS],
    JSON_OBJECT,
  ],
  studio: [
    ['--port <n>', 'port on loopback (default: 2024)', port],
    ['--origin <origin>', 'another page that may use the server, besides Studio (repeatable)', origins],
    [TUNNEL, 'also answer where squad cannot see which process asks, as through an SSH tunnel'],
    ['--json', 'print one JSON object once the server answers'],
  ],
  answer: [
    ['--edit', 'open the plan that the run asks about in $VISUAL or $EDITOR, and show what you changed'],
    ['--file <path>', 'answer with your version of the plan, as YAML or JSON'],
    ['--paths <list>', 'files and folders that the task of the agent that asked may change too, A,B'],
    RUN_FLAG,
    JSON_OBJECT,
  ],
  cancel: [PLAIN_LINES, JSON_OBJECT],
  retry: [
    ['--runtime <name>', `switch the task to this runtime: ${RUNTIMES}`],
    ['--model <name>', 'with --runtime: the model, as the runtime names it'],
    RUN_FLAG,
    JSON_OBJECT,
  ],
  diff: [
    ['--stat', 'print only how many lines of each file changed'],
    ['--name-only', 'print only the names of changed files'],
    NO_PAGER,
    JSON_OBJECT,
  ],
  merge: [
    ['--squash', 'add one commit with all of the work, in place of its commits'],
    ['--into <branch>', 'merge into this branch, and leave the files of the checkout as they are'],
    ['--unverified', 'merge although the run is not over, has failed, or its branch was changed'],
    JSON_OBJECT,
  ],
  pr: [
    ['--base <branch>', 'branch that gets the work (default: as squad.yaml said, else where the run began)'],
    ['--remote <name>', 'remote of the repository (default: as squad.yaml said, else origin)'],
    JSON_OBJECT,
  ],
  drop: [
    ['--all', 'also remove the refs of its work, and the prompts and output of its turns'],
    [YES, 'remove without a question'],
    JSON_OBJECT,
  ],
  clean: [
    ['--all', 'clean all finished runs'],
    ['--dry-run', 'show what would be removed, and change nothing'],
    ['--turns', 'also remove the folders of their turns, with prompts and raw output'],
    ['--refs', 'also remove refs/squad/<run>, and the run branch if another branch has its work'],
    ['--due', 'only remove what `keep` keeps no longer, and what tasks have left, as squad does by itself'],
    JSON_OBJECT,
  ],
  team: [
    ['--run <run>', 'join this run, by name or id'],
    [
      PLAYBOOK,
      `playbook of a new run, one of ${PLAYBOOKS} (default: as the objective or squad.yaml says, else ${TEAM_PLAYBOOK})`,
    ],
    ['--runtime <name>', `use this runtime for all turns of a new run: ${RUNTIMES}`],
    WHO[1],
    [NAME, 'name of a new run and its branch'],
    [YES, 'allow the commands in the objective and squad.yaml for this run'],
    FULL_ACCESS,
    ['--detach', 'open the panes without attaching to them'],
    ['--close', 'close the panes of this team; the run continues'],
  ],
  'mcp-server': [
    ['--allow <what>', 'let the program do this too: approve, merge (repeatable)', allowed],
    ['--repository <folder>', 'of the runs (default: the working directory)'],
  ],
  export: [
    ['--run <run>', 'only this run, by name or id'],
    ['--json', 'print one JSON object about the new file'],
  ],
  state: [
    ['--adopt <folder>', 'copy the runs of this state folder to this repository, which has none'],
    ['--forget <id>', 'remove the state of a repository that is gone'],
    [YES, 'do not ask'],
    JSON_OBJECT,
  ],
  uninstall: [
    ['--dry-run', 'show what would be removed, and change nothing'],
    [YES, 'remove without a question'],
    JSON_OBJECT,
  ],
} as const satisfies Readonly<Record<string, readonly Flag[]>>;

type WithLimits = 'run' | 'add' | 'best-of' | 'coordinate' | 'plan' | 'compare' | 'resume' | 'mcp-server';
export type Options<Name extends keyof typeof FLAGS> = Given<(typeof FLAGS)[Name]> &
  (Name extends WithLimits ? LimitOptions : unknown);
export type JsonOptions = Given<readonly [typeof JSON_OBJECT]>;
export type RunNameOptions = Given<readonly [typeof RUN_FLAG, typeof JSON_OBJECT]>;
export type PagedOptions = Given<readonly [typeof NO_PAGER, typeof JSON_OBJECT]>;
export type NewRunOptions = Given<typeof NEW_RUN> & LimitOptions;
export type DriveOptions = Given<typeof DRIVE> & LimitOptions;
export type ResumeOptions = Options<'resume'>;
/** `madeFor`: the objective that the session was just made for, which no flag gives. `pool`: its address. */
export type RunOptions = Options<'run'> & { readonly madeFor?: Objective | undefined; readonly pool?: string };
