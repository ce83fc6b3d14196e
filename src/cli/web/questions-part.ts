import type { AskedPlan, AskedQuestion } from '../../model/plan/asked-question.ts';
import { PLAN_OPTIONS } from '../../model/plan/proposal.ts';
import { PERMISSION_OPTIONS } from '../../view/permission-ask.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import { counted, grouped } from '../../text/counted.ts';
import { spanText } from '../../text/duration.ts';
import { moneyText } from '../../model/amount.ts';
import { estimateTexts } from '../ask/plan-lines.ts';
import { planDifferenceLines } from '../render/plan-difference.ts';
import { idOf, type Region, regionOf } from './page.ts';
import type { RunFacts } from './run-facts.ts';

interface Shown extends AskedQuestion {
  /** Any other text is an answer too. */
  readonly freeText: boolean;
}

/** Everything that a person is asked now, each with what is asked about and a form for the answer. */
export function waitingRegion({ reading, view, plan }: RunFacts): Region {
  const free = new Map(reading.questions.map(({ id, freeText }) => [id, freeText]));
  const asked: readonly Shown[] = [
    ...view.waits.asks.map(({ id, text }) => ({ id, text, options: [...PERMISSION_OPTIONS], freeText: false })),
    ...view.questions.map((question) => ({ ...question, freeText: free.get(question.id) ?? true })),
  ];
  const recorded = reading.questions.filter((question) => question.recorded !== null);
  return regionOf('waiting', 'Waiting for you', [
    ...(asked.length === 0 ? [markup`<p>Nothing.</p>`] : []),
    ...recorded.map(({ id }) => recordedLine(id, reading.driven)),
    ...asked.map((question) =>
      questionOf(question, plan?.question === question.id ? plan.file : undefined, view.run.playbook),
    ),
  ]);
}

function recordedLine(id: string, driven: boolean): Markup {
  const then = driven ? 'The run takes it up now.' : 'The run takes it up once an engine resumes it.';
  return markup`<p data-key="${idOf('answered', id)}"><code>${id}</code> is answered. ${then}</p>`;
}

function questionOf({ id, text, options, plan, freeText }: Shown, file: string | undefined, playbook: string): Markup {
  const own = idOf('question', id);
  return markup`<article data-key="${own}" aria-labelledby="${own}"><h3 id="${own}" tabindex="-1">${id}</h3><p class="asked">${text}</p>
${plan === undefined ? '' : planOf(plan, playbook)}
${options.length === 0 ? '' : optionsForm(id, options, plan !== undefined)}
${freeText ? textForm(id, own, plan !== undefined) : ''}
${file === undefined ? '' : planForm(id, own, file)}</article>`;
}

function hidden(name: string, value: string): Markup {
  return markup`<input type="hidden" name="${name}" value="${value}">`;
}

const PLAN_BUTTONS: Readonly<Record<string, string>> = {
  approve: 'Approve the plan',
  stop: 'Stop the run',
} satisfies Record<(typeof PLAN_OPTIONS)[number], string>;

function optionsForm(id: string, options: readonly string[], isPlan: boolean): Markup {
  return markup`<form data-act="answer">${hidden('question', id)}<p class="buttons" role="group" aria-label="Answers to ${id}">${options.map(
    (option) =>
      markup`<button name="answer" value="${option}">${(isPlan ? PLAN_BUTTONS[option] : undefined) ?? option}</button> `,
  )}</p></form>`;
}

function textForm(id: string, own: string, isPlan: boolean): Markup {
  const label = isPlan ? 'What the planner is to change' : 'Your answer';
  const button = isPlan ? 'Ask for this change' : 'Answer';
  return markup`<form data-act="answer">${hidden('question', id)}<label for="${own}-text">${label}</label><textarea id="${own}-text" name="answer" rows="3" required></textarea><p class="buttons"><button>${button}</button></p></form>`;
}

function planForm(id: string, own: string, file: string): Markup {
  return markup`<details data-key="${own}-edit"><summary>Change the plan yourself</summary><form data-act="answer">${hidden('question', id)}<label for="${own}-plan">The plan, as YAML</label><p class="soft" id="${own}-about">squad checks it as it checks the planner’s own, and answers with your version. The work starts once it is answered.</p><textarea id="${own}-plan" class="plan" name="plan" rows="24" spellcheck="false" aria-describedby="${own}-about" required>
${file}</textarea><p class="buttons"><button>Answer with this plan</button></p></form></details>`;
}

function planOf(plan: AskedPlan, playbook: string): Markup {
  const { summary, note, tasks, criteria, commands, limits, changes, estimate } = plan;
  return markup`<div class="plan-shown">${note === undefined ? '' : markup`<p class="attention">${note}</p>`}${summary === '' ? '' : markup`<p>${summary}</p>`}
${changes === undefined ? '' : changesOf(changes)}
<h4>${counted(tasks.length, 'task')}</h4><ol>${tasks.map(taskOf)}</ol>
<h4>Criteria</h4>${listOf(criteria.map(({ text, command, proposed }) => markup`${text}${command === null ? '' : markup` — <code>${command}</code>`}${proposed ? ' (proposed by the planner)' : ''}`))}
<h4>Commands that are run</h4>${listOf(commands.map((command) => markup`${command.for}: <code>${command.run}</code>`))}
<h4>At most</h4><p>${moneyText(limits.usd)}, ${counted(limits.turns, 'turn')}, ${spanText(limits.minutes * 60_000)} of engine time${limits.tokens === null ? '' : `, ${grouped(limits.tokens)} tokens`}</p>
${
  estimate === undefined
    ? ''
    : markup`<h4>Estimate</h4>${listOf(estimateTexts(estimate, playbook).map((text) => markup`${text}`))}`
}</div>`;
}

function changesOf(changes: NonNullable<AskedPlan['changes']>): Markup {
  const lines = planDifferenceLines(changes, (_, text) => text);
  return markup`<h4>Changed since the plan before</h4>${lines.length === 0 ? markup`<p>Nothing.</p>` : markup`<pre>${lines.join('\n')}</pre>`}`;
}

function listOf(items: readonly Markup[]): Markup {
  return items.length === 0 ? markup`<p>None.</p>` : markup`<ul>${items.map((item) => markup`<li>${item}</li>`)}</ul>`;
}

function taskOf({
  id,
  title,
  role,
  agents,
  review,
  needs,
  brief,
  files,
  acceptance,
}: AskedPlan['tasks'][number]): Markup {
  const facts: readonly (readonly [string, string])[] = [
    ['Who', `${role}: ${agents.join(', ')}`],
    ['Review', review.join(', ')],
    ['Needs', needs.length === 0 ? 'nothing, so it starts at once' : needs.join(', ')],
    ['Files', files.join(', ')],
  ];
  return markup`<li data-key="${idOf('planned', id)}"><strong>${id}</strong> ${title}<dl>${facts.map(([name, text]) =>
    text === '' ? '' : markup`<div><dt>${name}</dt><dd>${text}</dd></div>`,
  )}</dl><details data-key="${idOf('brief', id)}"><summary>Brief of ${id}</summary><pre>${brief}</pre></details>${
    acceptance.length === 0 ? '' : markup`<p>Its review checks:</p>${listOf(acceptance.map((text) => markup`${text}`))}`
  }</li>`;
}
