import type { TaskState } from '../../model/plan/board.ts';
import { counted } from '../../text/counted.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import { lineKinds } from '../../view/report/page.ts';
import type { FilePatch } from '../../view/report/patch.ts';
import { idOf, type Region, regionOf } from './page.ts';
import { numberedLines, type ReviewWay, reviewWayOf } from './review.ts';
import type { RunFacts, TaskWork } from './run-facts.ts';

const MOST_COMMENT = 4_000;

/** The work of each task, file by file, with forms for comments on its lines. */
export function worksRegion({ reading, view, works }: RunFacts): Region {
  const { name } = view.run;
  const isOver = view.end !== null;
  return regionOf('works', 'Work', [
    works.length === 0
      ? markup`<p>No task has work to show yet.</p>`
      : markup`<p><a href="diff">What the run has delivered so far, in one diff</a></p>`,
    ...(isOver && works.length > 0
      ? [
          markup`<p>The run is over, so no agent of it reads comments any more. For more work, start a new run: <code>squad run "…"</code></p>`,
        ]
      : []),
    ...works.flatMap((work) => {
      const state = reading.board.tasks.get(work.task);
      return state === undefined ? [] : [workOf(work, state, { name, isOver })];
    }),
  ]);
}

interface Of {
  readonly name: string;
  readonly isOver: boolean;
}

function workOf({ task, commit, patch }: TaskWork, state: TaskState, { name, isOver }: Of): Markup {
  const own = idOf('work', task);
  const way = isOver ? undefined : reviewWayOf(state);
  const more =
    patch.missing === 0 ? '' : markup`<p>${patch.missing} more files: ${commandOf(name, task)} shows them.</p>`;
  return markup`<article data-key="${own}" data-work="${task}" aria-labelledby="${own}"><h3 id="${own}">${task}: ${state.task.title}</h3><p>${counted(patch.files.length, 'file')} at commit <code>${commit.slice(0, 12)}</code>${
    state.work.authors.length === 0 ? '' : `, by ${state.work.authors.join(', ')}`
  }.</p>
${patch.files.map((file) => fileOf(file, { own, name, task, way }))}${more}${way === undefined ? '' : reviewForm(task, own, way)}</article>`;
}

interface Shown {
  readonly own: string;
  readonly name: string;
  /** Absent: all of the run. */
  readonly task?: string;
  readonly way?: ReviewWay | undefined;
}

export function fileOf(file: FilePatch, { own, name, task, way }: Shown): Markup {
  const { path, added, deleted, missing } = file;
  const key = `${own}-${idOf('file', path)}`;
  const more = missing === 0 ? '' : markup`<p>${missing} more lines: ${commandOf(name, task)} shows them.</p>`;
  return markup`<details data-key="${key}" data-path="${path}"><summary><code>${path}</code> (<span class="good">${added} added</span>, <span class="bad">${deleted} deleted</span>)</summary><pre class="diff" tabindex="0" role="group" aria-label="Diff of ${path}">${linesOf(file, way !== undefined)}</pre>${more}${way === undefined ? '' : commentForm(path, key)}</details>
`;
}

/** A line's number fills the form in; its keyboard way is the field of that form. A deleted line's number has a minus. */
function linesOf(file: FilePatch, canComment: boolean): Markup[] {
  const kinds = lineKinds(file.lines);
  return numberedLines(file).map(({ text, number, deleted }, index) => {
    const shown = number === undefined ? '' : `${deleted ? '-' : ''}${number}`;
    const about = shown === '' ? '' : markup` data-line="${shown}"`;
    const mark = shown === '' || !canComment ? '' : ' pick';
    return markup`<span class="${kinds[index] ?? ''}${mark}"${about}><i>${shown}</i><code>${text}</code></span>`;
  });
}

function commentForm(path: string, key: string): Markup {
  return markup`<form data-comment="${path}" class="comment"><p><label for="${key}-line">Line of ${path}, as numbered above, a deleted one with its minus</label><input id="${key}-line" name="line" type="number" required></p><label for="${key}-text">Comment</label><textarea id="${key}-text" name="text" rows="2" maxlength="${MOST_COMMENT}" required></textarea><p class="buttons"><button>Add to the review</button></p></form>`;
}

function reviewForm(task: string, own: string, { author, about, interrupts }: ReviewWay): Markup {
  return markup`<form data-act="review" class="review"><h4>Your review of ${task}</h4><p>${about} All comments go at once, as one review.</p><input type="hidden" name="task" value="${task}"><ul data-own data-key="${own}-comments" aria-label="Comments on ${task}"></ul>${
    interrupts
      ? markup`<p><label><input type="checkbox" name="now"> End its turn at work first; it continues with the comments</label></p>`
      : ''
  }<p class="buttons"><button>Send the review to ${author}</button></p></form>`;
}

export function commandOf(name: string, task?: string): Markup {
  return markup`<code>squad diff ${name}${task === undefined ? '' : ` ${task}`}</code>`;
}
