import { LIMITS } from '../model/limit-table.ts';
import { BUILT_IN_PLAYBOOKS, DEFAULT_PLAYBOOK } from '../model/playbook-name.ts';
import { ACP, BUILT_IN_RUNTIMES } from '../model/runtime-name.ts';
import { SINKS } from '../model/tracing.ts';
import type { Flag, Word } from '../text/flags.ts';
import { folders, model, positiveNumber, wholeNumber } from './option-values.ts';

export const RUN = 'name or id of a run (default: the one that is running, or the newest)';
export const PLAYBOOKS = BUILT_IN_PLAYBOOKS.join(', ');
export const RUNTIMES = [...BUILT_IN_RUNTIMES, `${ACP}/<agent>`].join(', ');
export const RUN_WORD: Word = ['[run]', RUN];

export const JSON_OBJECT = ['--json', 'print one JSON object'] as const;
export const JSON_LINES = ['--json', 'print one JSON object a line'] as const;
export const PLAIN_LINES = ['--plain', 'print lines instead of drawing on the terminal'] as const;
export const NO_PAGER = [
  '--no-pager',
  'print everything at once (default: through $PAGER or less at a terminal)',
] as const;
export const RUN_FLAG = ['--run <run>', RUN] as const;
export const PLAYBOOK = '--playbook <name>';
export const NAME = '--name <name>';
export const YES = '--yes';
export const ATTACH = ['--attach <file>', 'a file that the team has to read (repeatable)', folders] as const;
export const TUNNEL = '--tunnel';

/** Who works in a new run. */
export const WHO = [
  ['--runtime <name>', `use this runtime for all turns: ${RUNTIMES}`],
  ['--model <who=name>', 'model of an agent or role, such as planner=opus (repeatable)', model],
] as const;
export const FULL_ACCESS = [
  '--allow-full-access',
  'allow agents with `access: full` to work without a sandbox',
] as const;
export const ANY_RUN = [
  ...WHO,
  [NAME, 'name of the run and its branch (default: from the title)'],
  [YES, 'allow the commands in the objective and squad.yaml for this run'],
  FULL_ACCESS,
] as const;
export const NEW_RUN = [
  [
    PLAYBOOK,
    `one of ${PLAYBOOKS}, or the path of a list of stages (default: as the objective or squad.yaml says, else ${DEFAULT_PLAYBOOK})`,
  ],
  ...ANY_RUN,
] as const;
export const BEGINNING = [
  ['--base <ref>', 'begin from this branch, tag or commit, such as origin/main (default: what is checked out)'],
  ['--fetch', 'with --base: fetch its remote first, with your logins'],
] as const;
export const TRIES = [
  '--tries <n>',
  'with --playbook best-of: 2 to 9 agents do the same (default: 3)',
  wholeNumber,
] as const;
export const STRICT = [
  '--strict',
  'exit with 1 if something was not checked, a check was changed unreviewed, or a person decided',
] as const;

export const PLAN = [
  ['--plan <how>', 'ask: a person approves the plan before its tasks start; auto: no one does', ['ask', 'auto']],
] as const;

/** Their values are `LimitOptions`. */
export const LIMIT_FLAGS: readonly Flag[] = LIMITS.flatMap(({ about, flag }): Flag[] =>
  flag === undefined ? [] : [[`${flag.name} <n>`, `limit the ${about}`, flag.whole ? wholeNumber : positiveNumber]],
);
const WAITING = [
  ['--wait', 'wait for the reset of a usage limit (the default)'],
  ['--no-wait', 'end with exit 4 instead of waiting for the reset of a usage limit'],
  ['--trace [to]', 'send traces (default: where squad.yaml or the environment says)', SINKS],
  ['--trace-detail', 'send traces with the nodes of the engine too'],
] as const;
export const INSTEAD = [
  ['--dry-run', 'check everything, show what the run would do, and start nothing'],
  ['--resume', 'resume the newest unfinished run of this objective or session, if there is one'],
] as const;
export const DETACH = [
  '--detach',
  'run the engine in the background; the command ends once the engine has the run',
] as const;
/** How an engine works, besides its limits. */
export const DRIVE = [...WAITING, JSON_LINES, PLAIN_LINES] as const;
/** Flags that an engine in the background gets too. */
export const RESUME_FLAGS: readonly Flag[] = [...DRIVE, ...LIMIT_FLAGS];
export const RUN_FLAGS: readonly Flag[] = [...NEW_RUN, TRIES, ...PLAN, ...BEGINNING, STRICT, ...RESUME_FLAGS];

export const FOLLOW_FLAGS = [
  ['--days <n>', 'follow it so many days (default: as squad.yaml said, else 14)', positiveNumber],
  ['--rounds <n>', 'ask its agents so many times, at most (default: as squad.yaml said, else 10)', wholeNumber],
  [
    '--merge <when>',
    'when-approved: ask the forge to merge it once an allowed person has approved it',
    ['when-approved'],
  ],
  ['--remote <name>', 'remote of the repository (default: as squad.yaml said, else origin)'],
  [YES, 'agree to the run, if no person on this machine has'],
  JSON_OBJECT,
] as const;

export const MOVE_FLAGS = [
  ['--back', 'bring the runs of this repository back from where they were moved to'],
  ['--now', 'end the turns that are running, and do not wait for them; they are done again there'],
  [YES, 'agree to what the runs do on the other machine'],
  JSON_OBJECT,
] as const;
