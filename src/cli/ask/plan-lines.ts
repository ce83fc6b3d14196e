import { reviewsOf } from '../../model/plan/task.ts';
import { equipmentOf } from '../../model/armory-facts.ts';
import { costText, moneyText } from '../../model/amount.ts';
import { cannotStop, type Limits } from '../../model/limits.ts';
import type { ProposedCriterion } from '../../model/plan.ts';
import { LEAST_RUNS, type Estimate } from '../../model/plan/estimate.ts';
import type { ProposedPlan } from '../../model/plan/proposal.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { withoutCost } from '../../model/runtime-description.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import { filesOf, planDifferences, workIn } from '../../view/asked-plan.ts';
import { spanText } from '../../text/duration.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { wrap } from '../render/cells.ts';
import { planDifferenceLines } from '../render/plan-difference.ts';
import type { Style } from '../render/style.ts';

/** A plan before its tasks start. */
export interface PlanShown {
  readonly summary: string;
  readonly tasks: readonly NewTask[];
  /** Proposed by the planner. */
  readonly criteria: readonly ProposedCriterion[];
  readonly note?: string | undefined;
  /** The plan that this one has changed, or that a person has. */
  readonly before?: ProposedPlan | undefined;
}

export interface PlanContext {
  readonly definition: RunDefinition;
  readonly limits: Limits;
  /** By earlier runs of this repository; null: there are too few. */
  readonly estimate: Estimate | null;
  /** Absent: the terminal does not say. */
  readonly columns: number | undefined;
  readonly style: Style;
}

const INDENT = '    ';
const LEAST_COLUMNS = 40;
/** Longer briefs are in the file that `edit` opens. */
const MOST_BRIEF_LINES = 8;
const MOST_CHECKS = 8;

/** The plan for people: who does what, what is run, and what it may cost. Every text of others is made safe to show. */
export function planLines(plan: PlanShown, context: PlanContext): string[] {
  const { definition, style } = context;
  const say = sayer(context);
  const count = plan.tasks.length === 1 ? '1 task' : `${plan.tasks.length} tasks`;
  return [
    ...say(style('bold', `Plan of ${definition.name}: ${count}`)),
    ...(plan.note === undefined ? [] : say(style('yellow', plainText(plan.note)))),
    ...(plan.summary === '' ? [] : say(plainText(plan.summary))),
    ...plan.tasks.flatMap((task, index) => ['', ...taskLines(task, index, context, say)]),
    '',
    ...termsLines(plan, context),
    ...changedLines(plan, style, say),
  ];
}

/** Last, so that it is on the screen with the question. */
function changedLines({ before, ...plan }: PlanShown, style: Style, say: Say): string[] {
  if (before === undefined) return [];
  const changes = planDifferences(before, plan);
  const lines = changes.length === 0 ? ['nothing'] : planDifferenceLines(changes, style);
  return [style('bold', 'Changed since the plan before'), ...lines.flatMap((line) => say(line, INDENT))];
}

/** Shown below the tasks of a plan. */
export function termsLines(plan: Pick<PlanShown, 'criteria'>, context: PlanContext): string[] {
  const { definition, style } = context;
  const say = sayer(context);
  return [
    ...section('Criteria', criteriaTexts(plan, definition), style, say),
    ...section('Commands', commandTexts(plan, definition), style, say),
    ...section('At most', [capsText(context)], style, say),
    ...section('Estimate', estimateTexts(context.estimate, definition.playbook), style, say),
  ];
}

/** Wraps text to the terminal. */
export function sayer({ columns = 80 }: Pick<PlanContext, 'columns'>): Say {
  const most = Math.max(LEAST_COLUMNS, columns);
  return (text, indent = '') =>
    text.split('\n').flatMap((line) => wrap(line, most - indent.length).map((one) => `${indent}${one}`.trimEnd()));
}

type Say = (text: string, indent?: string) => string[];

function taskLines(task: NewTask, index: number, { definition, style }: PlanContext, say: Say): string[] {
  const { id, title, role, agent, needs, brief, review } = task;
  const checks = review?.criteria ?? [];
  // The criteria of the review have lines of their own below.
  const about = checks.length === 0 ? brief.text : workIn(brief.text);
  const lines = plainText(about)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const files = filesOf(task);
  const who = agent === undefined ? agentsText(definition, role) : agentText(definition, agent);
  return [
    ...say(`${index + 1}. ${style('bold', plainLine(id, 40))}  ${plainLine(title)}`),
    ...say(`who    ${plainLine(role, 40)}: ${who}`, INDENT),
    ...reviewsOf(task).flatMap(({ by }) =>
      say(`review ${by.map((role) => agentsText(definition, role)).join(' and ')}`, INDENT),
    ),
    ...say(`needs  ${needs.length === 0 ? 'nothing, so it starts at once' : plainLine(needs.join(', '))}`, INDENT),
    ...(files.length === 0 ? [] : say(`files  ${plainLine(files.join(', '), 400)}`, INDENT)),
    ...first(lines, MOST_BRIEF_LINES).flatMap((line) => say(style('dim', line), INDENT)),
    ...first(checks, MOST_CHECKS).flatMap((line) => say(`- ${plainLine(line, 400)}`, INDENT)),
  ];
}

function first(lines: readonly string[], most: number): string[] {
  const left = lines.length - most;
  return [...lines.slice(0, most), ...(left > 0 ? [`… ${left} more ${left === 1 ? 'line' : 'lines'}`] : [])];
}

/** Most agents of one role that are named. */
const MOST_AGENTS = 4;

function agentsText({ agents }: RunDefinition, role: string): string {
  const all = agents.filter((agent) => agent.role === role);
  const named = all.slice(0, MOST_AGENTS).map(oneAgent);
  const left = all.length - named.length;
  if (named.length === 0) return 'no agent';
  return `${named.join(' or ')}${left > 0 ? ` or ${left} more` : ''}`;
}

function agentText({ agents }: RunDefinition, name: string): string {
  const found = agents.find((agent) => agent.name === name);
  return found === undefined ? plainLine(name, 40) : oneAgent(found);
}

function oneAgent(agent: BoundAgent): string {
  const { name, runtime, model } = agent;
  const equipment = equipmentOf(agent) ?? [];
  return plainLine(`${name} (${[[runtime, model].join(' ').trim(), ...equipment].join(', ')})`, 200);
}

function criteriaTexts({ criteria }: Pick<PlanShown, 'criteria'>, { objective }: RunDefinition): string[] {
  const how = (command: string | undefined): string =>
    command === undefined ? 'judged by a reviewer' : `run: ${plainLine(command, 4096)}`;
  const own = objective.criteria.map(({ text, command }) => `${plainLine(text, 400)} (${how(command)})`);
  const proposed = criteria.map(({ text, command }) => `${plainLine(text, 400)} (proposed; ${how(command)})`);
  const all = [...own, ...proposed];
  return all.length === 0 ? ['none: the objective names none'] : all;
}

function commandTexts(
  { criteria }: Pick<PlanShown, 'criteria'>,
  { setup, verify, objective }: RunDefinition,
): string[] {
  const commands = [
    ...setup.map(({ run }) => `setup: ${run}`),
    ...verify.map(({ run }) => `verify: ${run}`),
    ...objective.criteria.flatMap(({ command }) => (command === undefined ? [] : [`criterion: ${command}`])),
    ...criteria.flatMap(({ command }) => (command === undefined ? [] : [`criterion, proposed: ${command}`])),
  ];
  return commands.length === 0 ? ['none'] : commands.map((command) => plainLine(command, 4200));
}

function capsText({ limits: { usd, turns, minutes, tokens }, definition }: PlanContext): string {
  const runtimes = definition.agents.map(({ runtime }) => runtime);
  const blind = withoutCost(definition.described, runtimes);
  const caps = [
    moneyText(usd),
    `${turns} turns`,
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    `${spanText(minutes * 60_000)} of engine time`,
  ];
  return `${caps.join(', ')}${blind.length === 0 ? '' : `; ${cannotStop(blind, 'cost')}`}`;
}

/** A forecast in words, also where there is none. */
export function estimateTexts(estimate: Estimate | null, playbook: string): string[] {
  if (estimate === null) return [`no estimate: fewer than ${LEAST_RUNS} runs of ${playbook} have ended as done here`];
  const { runs, turns, minutes, usd, atLeast } = estimate;
  const textOf = (of: 'median' | 'p90'): string => {
    const cost = costText({ costUsd: usd?.[of] ?? null, unknownCostTurns: atLeast ? 1 : 0 });
    return `${turns[of]} turns, ${spanText(minutes[of] * 60_000)} of engine time, ${cost}`;
  };
  return [
    `median           ${textOf('median')}`,
    `90th percentile  ${textOf('p90')}`,
    `from the last ${runs} runs of ${playbook} that ended as done here`,
  ];
}

function section(title: string, texts: readonly string[], style: Style, say: Say): string[] {
  return [style('bold', title), ...texts.flatMap((text) => say(text, INDENT))];
}
