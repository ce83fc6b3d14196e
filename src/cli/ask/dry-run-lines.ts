import { trustLines } from '../../squad/preflight/consent.ts';
import type { PlannedRun } from '../../squad/preflight/planned-run.ts';
import { plainLine } from '../../text/plain-text.ts';
import { counted } from '../../text/counted.ts';
import { renderTable } from '../render/table.ts';
import { sayer, termsLines, type PlanContext } from './plan-lines.ts';

type PlannedStage = NonNullable<PlannedRun['stages']>[number];

/** A stage, or its review. */
interface Row {
  readonly cells: readonly string[];
  readonly notes: readonly string[];
}

const INDENT = '    ';

/** A run that has not started, for people. Every text of others is made safe to show. */
export function dryRunLines(planned: PlannedRun, context: PlanContext): string[] {
  const { name, playbook, branch, agents, stages, tasks = [], plan, consent, commands, warnings } = planned;
  const { repositories = [] } = planned;
  const { style } = context;
  const say = sayer(context);
  const rows = stages === undefined ? tasks.map(taskRow) : stages.flatMap(stageRows);
  const head = stages === undefined ? ['', 'task', 'role', 'after'] : ['', 'stage', 'who', 'after'];
  const [top = '', ...lines] = renderTable({ head, rows: rows.map(({ cells }) => cells), columns: context.columns });
  return [
    ...say(style('bold', `Dry run of ${name}: nothing has started, and nothing was written`)),
    ...say(`playbook ${plainLine(playbook, 40)}, branch ${branch} from ${beginText(planned)}`),
    ...repositories.flatMap(({ folder, root, base, role }) =>
      say(`and ${plainLine(root, 300)} at ${base.slice(0, 12)}, in ${folder}: ${plainLine(role, 300)}`),
    ),
    ...(plan === 'ask' && stages === undefined ? say('a person approves the plan before its tasks start') : []),
    '',
    style('dim', top),
    ...lines.flatMap((line, index) => [
      line,
      ...(rows[index]?.notes ?? []).flatMap((note) => say(style('dim', note), INDENT)),
    ]),
    ...(stages === undefined ? say('the playbook adds the other tasks while it runs', INDENT) : []),
    '',
    style('bold', 'Agents'),
    ...renderTable({ rows: agents.map(agentCells), columns: context.columns }).map((line) => `${INDENT}${line}`),
    ...termsLines({ criteria: [] }, context),
    ...(consent === undefined
      ? []
      : [style('bold', 'Consent'), ...consentTexts(consent, commands).flatMap((text) => say(text, INDENT))]),
    ...(warnings.length === 0
      ? []
      : [style('bold', 'Notes'), ...warnings.flatMap((text) => say(plainLine(text, 800), INDENT))]),
  ];
}

function beginText({ base, from }: PlannedRun): string {
  const commit = base.slice(0, 12);
  return from === undefined ? commit : `${plainLine(from, 100)} at ${commit}`;
}

function stageRows(stage: PlannedStage): Row[] {
  const { n, id, title, who, needs, reviews = [] } = stage;
  const by = stage.judges === undefined ? ' or ' : ' and ';
  const own: Row = {
    cells: [String(n), id, workerOf(stage) ?? names(who, by), needs.join(', ')],
    notes: [`${plainLine(title, 100)}: ${notesOf(stage).join('; ')}`],
  };
  return [own, ...reviews.map((review, index) => reviewRow(review, reviews[index - 1]?.id ?? id))];
}

/** Who does a stage without agents. */
function workerOf({ makes }: PlannedStage): string | undefined {
  if ('approval' in makes) return 'a person';
  return 'checks' in makes ? 'squad' : undefined;
}

function reviewRow(
  { n, id, who, quorum, rounds, session, reopens = {} }: NonNullable<PlannedStage['reviews']>[number],
  after: string,
): Row {
  const votes = who.length < 2 ? '' : quorum === 'all' ? ', all have to approve' : ', one has to approve';
  const notes = [
    `a review of at most ${counted(rounds, 'round')}${votes}`,
    ...sessionNotes(session),
    ...Object.entries(reopens).map(wayText),
  ];
  return { cells: [String(n), id, names(who, ' and '), after], notes: [notes.join('; ')] };
}

type Reopens = NonNullable<NonNullable<PlannedStage['reviews']>[number]['reopens']>;

function wayText([category, to]: [string, Reopens[string]]): string {
  if (to === 'block') return `${category} ends the task`;
  return to === 'author' ? `${category} goes back to the author` : `${category} has ${to.stage} done again`;
}

function notesOf(stage: PlannedStage): string[] {
  const { makes, requires = [], each, follows, judges, session, asks, onFail, isDone } = stage;
  return [
    madeText(makes),
    ...requires.map(requiredText),
    ...(each === undefined
      ? []
      : [follows === true ? `once behind each task of ${each.of}` : `once for each task that ${each.of} plans`]),
    ...(judges === undefined
      ? []
      : [
          `a rejection ${'redo' in judges.else ? `has ${judges.else.redo} done again` : `is fixed as in ${judges.else.fix}`}, at most ${counted(judges.rounds, 'round')}`,
        ]),
    ...sessionNotes(session),
    ...(asks === undefined
      ? []
      : [`asks ${asks.of.join(' or ')} for advice, at most ${counted(asks.most, 'question')}`]),
    ...(onFail === 'skip' ? ['if it fails, the run continues'] : []),
    ...(isDone === true ? ['done before this run'] : []),
  ];
}

function requiredText(one: NonNullable<PlannedStage['requires']>[number]): string {
  if ('only' in one) return `changes only ${one.only.map((path) => plainLine(path, 200)).join(', ')}`;
  return 'file' in one ? `has to leave ${plainLine(one.file, 200)}` : 'has to show an open pull request';
}

function sessionNotes(session: PlannedStage['session']): string[] {
  switch (session) {
    case undefined:
    case 'new':
      return [];
    case 'role':
      return ['in the agent’s session'];
    case 'thread':
      return ['in one session with its role’s other tasks'];
    default:
      return [`in the session of ${session.of}`];
  }
}

function madeText(makes: PlannedStage['makes']): string {
  if ('document' in makes) {
    const headings =
      makes.headings === undefined ? '' : ` (${makes.headings.map((text) => plainLine(text, 100)).join(', ')})`;
    return `writes ${plainLine(makes.document, 200)}${headings}${makes.answer === undefined ? '' : ' and plans tasks'}`;
  }
  if ('documents' in makes) return `writes ${makes.documents.map((path) => plainLine(path, 200)).join(', ')}`;
  if ('code' in makes) return makes.mayChangeNothing === true ? 'may change code' : 'changes code';
  if ('removes' in makes) return 'removes the documents';
  if ('commit' in makes) return 'commits what the stage before left, if its author does not';
  if ('approval' in makes) return 'asks a person for a verdict on the work so far';
  if ('checks' in makes) {
    if (makes.checks === 'criteria') return 'runs the commands of the criteria';
    return `runs ${makes.checks.map((command) => plainLine(command, 400)).join(', ')}`;
  }
  return makes.answer === 'tasks'
    ? 'plans tasks'
    : makes.answer === 'verdict'
      ? 'judges the work so far'
      : makes.answer === 'worker'
        ? 'answers and changes nothing'
        : 'answers by a schema';
}

function taskRow({ id, title, role, needs }: NonNullable<PlannedRun['tasks']>[number], index: number): Row {
  return {
    cells: [String(index + 1), plainLine(id, 40), plainLine(role, 40), plainLine(needs.join(', '), 200)],
    notes: [plainLine(title)],
  };
}

function agentCells({ name, role, runtime, model, access }: PlannedRun['agents'][number]): string[] {
  return [name, role, plainLine([runtime, model].join(' ').trim(), 200), access];
}

function names(who: PlannedStage['who'], by: string): string {
  return who.map(({ name, runtime }) => `${name} (${plainLine(runtime, 40)})`).join(by) || 'no agent';
}

function consentTexts(consent: 'given' | 'needed', commands: PlannedRun['commands']): string[] {
  const state = consent === 'given' ? 'given' : 'needed: `squad run` asks at a terminal, `--yes` gives it for one run';
  return [state, ...trustLines(commands)];
}
