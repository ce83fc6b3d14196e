import { z } from 'zod';
import { defined } from '../../text/defined.ts';
import { nameOf, type Flag, type Word } from '../../text/flags.ts';
import { acpRuntime, BUILT_IN_RUNTIMES } from '../runtime-name.ts';
import { runtimeNameSchema } from '../settings-text.ts';
import { usageError } from '../errors.ts';
import { agentScope, scopeName, taskScope, WHOLE_RUN } from './scope.ts';

const text = z.string().min(1);
/** `run`, `agent/<name>` or `task/<id>`. */
const scopeSchema = z.string().regex(/^(?:run|(?:agent|task)\/.{1,200})$/);
const on = scopeSchema.default(WHOLE_RUN);
const why = z.string().max(2_000);
const ENDS = ['done', 'failed'] as const;

/** Characters of a note. A longer text belongs into a file. */
export const MOST_NOTE = 8_000;

/** Commands to a run that a program gives; an engine applies them as they are. `rules/intervene.ts` says what each does. */
export const requestSchema = z.discriminatedUnion('verb', [
  /** Running turns finish; no new ones start until `resume`. */
  z.object({ verb: z.literal('pause'), on }),
  z.object({ verb: z.literal('resume'), on }),
  /** Running turns finish, no new ones start, and then the engine ends. */
  z.object({ verb: z.literal('drain') }),
  /** Turns start although the objective's deadline has passed, now and after later resumes. */
  z.object({ verb: z.literal('past-deadline') }),
  /** Ends the run or a task for good. */
  z.object({ verb: z.literal('cancel'), on, why: why.default('') }),
  /** Tries a task again with fresh budgets, and with `fresh` in a new session and a reset folder. `agent` does it from now on. */
  z.object({
    verb: z.literal('retry'),
    task: text,
    fresh: z.boolean().default(false),
    note: z.string().max(MOST_NOTE).optional(),
    agent: z.string().max(100).optional(),
  }),
  /** Tasks that need it continue without it. */
  z.object({ verb: z.literal('skip'), task: text, why: why.default('') }),
  /** `done` delivers the work that is there, whatever its reviewers said. */
  z.object({ verb: z.literal('override'), task: text, as: z.enum(ENDS), why }),
  /** The next turns of an agent or a task use another runtime or model, in a new session. `also` names more of them. */
  z.object({
    verb: z.literal('switch'),
    on,
    also: z.array(scopeSchema).max(1_000).readonly().optional(),
    runtime: runtimeNameSchema,
    model: z.string().max(100).optional(),
  }),
  /** A note from a person in the agent's next turn. `now`: the turn at work ends first, and its session continues with the note. */
  z.object({
    verb: z.literal('tell'),
    agent: z.string().min(1).max(100),
    text: z
      .string()
      .trim()
      .min(1, 'it is empty')
      .max(MOST_NOTE, `it may have ${MOST_NOTE} characters; put more into a file of the repository, and name that`),
    now: z.boolean().default(false),
  }),
]);

/**
 * A command to a run. `on`: `run` (the default), `agent/<name>` or `task/<id>`; `also`: others that are switched too. `why` is for the
 * report. `agent` of a retry does the task from now on; it has the role of the task. docs/control.md says what each does.
 */
export type InterventionRequest = z.input<typeof requestSchema>;
export type RequestVerb = InterventionRequest['verb'];

interface Verb<Request> {
  /** Absent: it is an option of `squad resume`, and no command of its own. */
  readonly about?: string;
  readonly examples?: readonly string[];
  /** Fields as people give them: `agent` and `task` for `on`, and `reason` for `why`. */
  readonly words?: readonly Word[];
  readonly flags?: readonly Flag[];
  /** Printed once the command is stored. */
  readonly says: (request: Request) => string;
}

const TASK: Word = ['<task>', 'id of the task'];
const REASON: Flag = ['--reason <text>', 'the reason, for the report'];

/** How people give each: commands with their options, edits in Studio and their refusals follow from it and from the schema. */
export const VERBS: { readonly [V in RequestVerb]: Verb<Extract<InterventionRequest, { readonly verb: V }>> } = {
  pause: {
    about: 'Pause a run, agent or task. Running turns finish; no new ones start.',
    examples: ['squad pause', 'squad pause --agent builder-2', 'squad pause my-run --task greet'],
    flags: scopeFlags('only this agent', 'only this task'),
    says: (request) => `${scopeName(request.on)} is paused. Running turns finish; no new ones start.`,
  },
  resume: {
    flags: scopeFlags('only this agent', 'only this task'),
    says: (request) => `${scopeName(request.on)} is resumed`,
  },
  drain: {
    about: 'Let running turns finish, start no new ones, and end the engine.',
    examples: ['squad drain'],
    says: () => 'no new turns start; the engine ends once the running ones have finished',
  },
  'past-deadline': { says: () => 'turns start although its deadline has passed' },
  cancel: {
    about: 'Cancel a run or a task for good. Delivered work stays; `squad retry` reopens it.',
    examples: ['squad cancel', 'squad cancel --task docs --reason "not needed any more"'],
    flags: [['--task <id>', 'cancel only this task and the tasks that need it'], REASON],
    says: (request) => `${scopeName(request.on)} is cancelled`,
  },
  retry: {
    about: 'Try a task again that failed, stalled, or was skipped or cancelled.',
    examples: [
      'squad retry',
      'squad retry greet',
      'squad retry greet --fresh --note "use the old API"',
      'squad retry greet --runtime codex',
      'squad retry greet --agent builder-2',
    ],
    words: [
      ['[task]', 'id of the task (default: list those that failed or are stuck, and ask what to do at a terminal)'],
    ],
    flags: [
      ['--fresh', 'start a new session from the delivered state; old work is kept under refs/squad'],
      ['--note <text>', 'a note for its agent'],
      ['--agent <name>', 'give the task to this agent, which has the role that the task needs'],
    ],
    says: ({ task, agent, fresh }) =>
      `${task} is retried${agent === undefined ? '' : ` by ${agent}`}${fresh === true ? ' in a new session and a fresh folder' : ''}`,
  },
  skip: {
    about: 'Skip a task. Tasks that need it start as if it were delivered.',
    examples: ['squad skip docs --reason "we write them later"'],
    words: [TASK],
    flags: [REASON],
    says: ({ task }) => `${task} is skipped; tasks that need it start without it`,
  },
  override: {
    about: 'Decide how a task ends. `done` overrules its reviewers, but not the checks.',
    examples: ['squad override greet done --reason "I read it myself"'],
    words: [TASK, ['<as>', 'how the task ends', ENDS]],
    flags: [REASON],
    says: ({ task, as }) => `${task} is ${as}, because you say so`,
  },
  tell: {
    about: 'Tell an agent something. It reads the note in its next turn, or with --now at once.',
    examples: ['squad tell builder-1 "use tabs"', 'squad tell builder-1 --now "stop, the API has changed"'],
    words: [
      ['<agent>', 'name of an agent of the run'],
      ['<text>', 'the note, in quotes'],
    ],
    flags: [['--now', 'end its turn at work first; the same session continues with the note']],
    says: ({ agent, now }) =>
      now === true
        ? `${agent} is interrupted and continues with the note; if it is not at work, its next turn begins with it`
        : `${agent} reads the note in its next turn`,
  },
  switch: {
    about: 'Switch agents or tasks to another runtime, from their next turns on.',
    examples: [
      'squad switch codex --agent builder-1',
      'squad switch claude --agent builder-1 --agent reviewer',
      'squad switch claude --task greet --model opus',
    ],
    words: [['<runtime>', `the new runtime: ${[...BUILT_IN_RUNTIMES, acpRuntime('<agent>')].join(', ')}`]],
    flags: [
      ['--agent <name>', 'switch this agent; may be given several times', collect],
      ['--task <id>', 'switch only this task; may be given several times', collect],
      ['--model <name>', 'the model, as the runtime names it (default: the runtime’s own)'],
    ],
    says: (request) =>
      [request.on, ...(request.also ?? [])]
        .map((scope) => `${scopeName(scope)} uses ${request.runtime} from its next turn on`)
        .join('; '),
  },
};

// The order of the table is that of the help.
export const REQUEST_VERBS = Object.keys(VERBS) as readonly RequestVerb[];

/** Fields of a verb by the names that people give them. */
export function fieldsOf(verb: RequestVerb): Readonly<Record<string, z.ZodType>> {
  const { words = [], flags = [] } = VERBS[verb];
  const shape = shapeOf(verb);
  const names = [...words, ...flags].map(nameOf);
  return Object.fromEntries(
    names.map((name) => [name, (isScope(shape, name) ? text.optional() : shape[storedName(name)]) ?? z.never()]),
  );
}

/** The command that these fields stand for; other values are left out. Throws `usage` for more scopes than it takes. */
export function requestOf(verb: RequestVerb, given: Readonly<Record<string, unknown>>): InterventionRequest {
  const shape = shapeOf(verb);
  const names = Object.keys(fieldsOf(verb));
  const own = names.filter((name) => !isScope(shape, name)).map((name) => [storedName(name), given[name]] as const);
  const [on, ...also] = names
    .filter((name) => isScope(shape, name))
    .flatMap((name) => {
      const named = given[name] === undefined ? [] : [given[name]].flat();
      return named.map(String).map(name === 'agent' ? agentScope : taskScope);
    });
  if (also.length > 0 && !('also' in shape)) {
    throw usageError('--agent and --task cannot be given together', 'Name one.');
  }
  const more = also.length > 0 ? { also } : {};
  return defined({ verb, on, ...more, ...Object.fromEntries(own) }) as InterventionRequest;
}

type Shape = Readonly<Record<string, z.ZodType>>;

function shapeOf(verb: RequestVerb): Shape {
  return requestSchema.options.find(({ shape }) => shape.verb.value === verb)?.shape ?? {};
}

function isScope(shape: Shape, name: string): boolean {
  return 'on' in shape && (name === 'agent' || name === 'task');
}

function storedName(name: string): string {
  return name === 'reason' ? 'why' : name;
}

function scopeFlags(agent: string, task: string): readonly Flag[] {
  return [
    ['--agent <name>', agent],
    ['--task <id>', task],
  ];
}

/** A flag that may be given several times. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
