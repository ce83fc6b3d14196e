import { ALL_FIXED, finding } from '../support/findings.ts';
import {
  backlog,
  block,
  built,
  committed,
  guidance,
  MILESTONE,
  planned,
  REPORT,
  requestPlans,
  RESEARCH,
  SPRINT_ID,
  todo,
  todos,
  write,
} from '../support/sprint-script.ts';
import type { Json } from '../../src/text/json.ts';
import type { Act, Asked, ScriptedTurn } from './turn-scripts.ts';

/** What every turn of a team does on the model behind real CLIs: it goes by the ids and paths that its prompt names. */

/** An item of the backlog, and how its todo goes. */
export interface LiveTodo {
  readonly item: string;
  /** Words of the request that it is made for. */
  readonly asked: string;
  /** What its planner waits for, until the backlog says that a person brought it. */
  readonly lacks?: { readonly input: string; readonly brought: string };
  /** Whose first verdict is a rejection, and its category. */
  readonly rejected?: { readonly by: 'architect' | 'qa'; readonly category: string };
}

const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });

function found({ prompt }: Asked, form: RegExp): string {
  const [, text] = form.exec(prompt) ?? [];
  if (text === undefined) throw new Error(`the prompt has no ${form.source}:\n${prompt}`);
  return text;
}

/** Answers in a form, about the sprint that the prompt names. */
function answers(value: (asked: Asked) => Json): (asked: Asked) => Act {
  return (asked) => {
    const [id = SPRINT_ID] = /\d{6}-Sprint-\d\d:\d\d(?:-\d+)?/.exec(asked.prompt) ?? [];
    return {
      act: 'answer',
      value: JSON.parse(JSON.stringify(value(asked)).replaceAll(SPRINT_ID, id)) as Record<string, unknown>,
    };
  };
}

/** Reads the attachment that its prompt names, by its path, and tries to change it. */
function tries(asked: Asked): Act {
  const path = found(asked, ATTACHED);
  return shell(`cat '${path}'; (echo changed >>'${path}') || echo kept; mv '${path}' '${path}.mine' || echo there`);
}

const triesIfNamed = (asked: Asked): Act =>
  ATTACHED.test(asked.prompt) ? tries(asked) : shell('git log -1 --format=%s');

/** Reads it with the file tool of the CLI, if it has one. */
function looksAt(asked: Asked, hasTool: boolean): Act {
  const path = found(asked, ATTACHED);
  return hasTool ? { act: 'own', tool: 'Read', arguments: { file_path: path } } : { act: 'read', path };
}

export const SKETCH = 'the first one is round';
const ATTACHED = /sketch\.md \(\d+ bytes\): (\/\S+)/;

const folder = (asked: Asked): string => found(asked, /(docs\/squad\/[a-z0-9-]+)/);

function documents(asked: Asked, names: readonly string[]): Act {
  const place = folder(asked);
  const files = names.map((name) => `printf '# ${name}\\n\\nIt works.\\n' >${place}/${name}.md`);
  return shell([`mkdir -p ${place}`, ...files, 'git add -A', 'git commit -qm "docs: plan the sprint"'].join(' && '));
}

const step = (name: string, when: RegExp, ...acts: ScriptedTurn['acts']): ScriptedTurn => ({ name, when, acts });

/** One item for each request that asks for it. */
function plans(all: readonly LiveTodo[], { prompt }: Asked): Json {
  const requests = [...prompt.matchAll(/^## (r-\S+), from [^\n]*\n\n([^\n]*)/gm)].map(([, id = '', text = '']) => ({
    id,
    items: all.filter(({ asked }) => text.includes(asked)).map(({ item }) => item),
  }));
  const writes = requests.flatMap(({ id, items }) => items.map((item) => write(item, { source: `request:${id}` })));
  return requestPlans(Object.fromEntries(requests.map(({ id, items }) => [id, items])), writes);
}

function verdict(category: string | null): Act {
  const isGood = category === null;
  return {
    act: 'answer',
    value: {
      ...{ approved: isGood, summary: isGood ? 'good' : 'not yet', settled: ALL_FIXED, checks: [], category },
      ...{ findings: isGood ? [] : [finding('it lacks a line')], required_inputs: [], recommended_next_step: null },
    },
  };
}

/** A reviewer goes by what it sees of the change, with the command that it was given. */
const LOOK = ({ prompt }: Asked): Act => shell(/The change is `([^`]+)`/.exec(prompt)?.[1] ?? 'git log -1 --format=%s');

function todoTurns(
  { item, rejected }: LiveTodo,
  { plan, noted }: { readonly plan: () => Json; readonly noted: typeof answers },
): ScriptedTurn[] {
  return [
    step(`plan ${item}`, new RegExp(`^# Task ${item}:`, 'm'), answers(plan)),
    step(
      `guide ${item}`,
      new RegExp(`^# Task ${item}-guide:`, 'm'),
      triesIfNamed,
      noted(() => guidance(item)),
    ),
    step(
      `build ${item}`,
      new RegExp(`^# Task ${item}-build:`, 'm'),
      shell(`echo line >>${item}.txt`),
      answers(() => built(item)),
    ),
    step(
      `mend ${item}`,
      new RegExp(`Your work on task ${item}-build was rejected in review`),
      shell(`echo more >>${item}.txt`),
      answers(() => built(item)),
    ),
    step(`judge ${item}`, new RegExp(`${item}-build.*\\(round \\d\\)`), LOOK, ({ outputs, agent }) => {
      const change = outputs.join('\n');
      if (!change.includes(`${item}.txt`)) return verdict('implementation');
      return verdict(agent === rejected?.by && !change.includes('more') ? rejected.category : null);
    }),
    step(
      `commit ${item}`,
      new RegExp(`^# Task ${item}-commit:`, 'm'),
      shell(`git commit -qm "${subjectOf(item)}"`),
      answers(() => committed(item, subjectOf(item), [`${item}.txt`])),
    ),
  ];
}

export const subjectOf = (item: string): string => `feat: make ${item}`;

/** `hasTool`: the planner has a tool that reads files. `said`: what the attachment's readers saw. */
export function sprintTurns(
  all: readonly LiveTodo[],
  { hasTool, said }: { readonly hasTool: boolean; readonly said: string[] },
): readonly ScriptedTurn[] {
  const noted: typeof answers = (value) =>
    answers((asked) => {
      said.push(`${asked.agent}: ${asked.outputs.join('\n')}`);
      return value(asked);
    });
  /** What the backlog has for the sprint, which its planner has read before it chooses. */
  let pending: readonly string[] = [];
  let read = '';
  const planOf = ({ item, lacks }: LiveTodo): Json =>
    lacks === undefined || read.includes(`a person said: ${lacks.brought}`)
      ? planned(item)
      : planned(item, block(lacks.input));
  const seen = ({ prompt }: Asked): Json => {
    read = prompt;
    pending = [...prompt.matchAll(/^- (b-\S+) \(version \d+, (?:pending|carried_over),/gm)].map(([, id = '']) => id);
    return backlog();
  };
  return [
    ...all.flatMap((one) => todoTurns(one, { plan: () => planOf(one), noted })),
    step(
      'requests',
      /^# Task plan-requests:/m,
      tries,
      (asked) => looksAt(asked, hasTool),
      noted((asked) => plans(all, asked)),
    ),
    step(
      'research',
      /^# Task research:/m,
      triesIfNamed,
      noted(() => RESEARCH),
    ),
    step(
      'milestone',
      /^# Task milestone:/m,
      (asked) => documents(asked, ['milestone']),
      answers(() => MILESTONE),
    ),
    step('artifacts', /^# Task artifact-sync:/m, (asked) => documents(asked, ['plan', 'spec']), say('Written.')),
    step('backlog', /^# Task backlog:/m, answers(seen)),
    step(
      'priorities',
      /^# Task priorities:/m,
      answers(() => backlog()),
    ),
    step(
      'todos',
      /^# Task todos:/m,
      answers(() => todos(...pending.map((one) => todo(one)))),
    ),
    step(
      'report',
      /^# Task report:/m,
      answers(() => REPORT),
    ),
  ];
}
