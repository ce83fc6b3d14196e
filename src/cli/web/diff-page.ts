import { counted } from '../../text/counted.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import { idOf, type Page, regionOf } from './page.ts';
import type { Changes } from './run-facts.ts';
import { commandOf, fileOf } from './works-part.ts';

/** All that a run has delivered so far, file by file. */
export function diffPage(run: string, changes: Changes | undefined): Page {
  const count = counted(changes?.patch.files.length ?? 0, 'file');
  const about =
    changes === undefined ? 'Nothing is delivered yet' : `${count} at commit ${changes.commit.slice(0, 12)}`;
  const head = markup`<div id="head"><h1>What ${run} has delivered</h1><p>${about}${
    changes === undefined ? '' : markup`, compared with <code>${changes.from.slice(0, 12)}</code>, where the run began`
  }.</p><p>A comment on a line belongs to the task that wrote it: open its work on <a href="./#works-title">the page of the run</a>, which has
also what is not delivered yet.</p></div>`;
  return {
    title: `Changes of ${run}: ${about}`,
    news: changes === undefined ? '' : `${run} has delivered ${about}.`,
    regions: [{ id: 'head', html: head }, ...(changes === undefined ? [] : [filesRegion(run, changes)])],
  };
}

function filesRegion(run: string, { patch }: Changes) {
  const files: Markup[] = patch.files.map((file) => fileOf(file, { own: idOf('all', ''), name: run }));
  const more = patch.missing === 0 ? '' : markup`<p>${patch.missing} more files: ${commandOf(run)} shows them.</p>`;
  return regionOf('files', 'Files', [...files, ...(more === '' ? [] : [more])]);
}
