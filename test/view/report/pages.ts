import {
  code,
  cut,
  heading,
  list,
  quote,
  strong,
  table,
  words,
  type Block,
} from '../../../src/view/report/document.ts';
import { viewOf } from '../../../src/view/view-of.ts';
import { renderPage, type PageFacts } from '../../../src/view/report/page.ts';
import { foldPatch } from '../../../src/view/report/patch.ts';
import type { ShownStage } from '../../../src/model/shown-stage.ts';
import { reportOf } from '../../../src/view/report/report.ts';
import { timelineOf, type Bar } from '../../../src/view/report/timeline.ts';
import { rejects } from '../../playbooks/simulator.ts';
import { usage } from '../../substrate/ledger/support.ts';
import { BASE, definition, HEAD, play, RecordedRun } from './support.ts';

/** A page in which others fill every place. */
export async function pageOf(evil: string): Promise<string> {
  const text = words`${evil}, ${cut(evil, 40)} ${strong(evil, 'bad')} ${code(evil)}`;
  const about: Block[] = [
    { is: 'paragraph', text },
    list([text, evil]),
    table(['a', 'b'], [[text, evil]]),
    quote(evil),
    { is: 'commands', lines: [evil] },
  ];
  const blocks = [heading(text), ...about];
  const oneLine = evil.replaceAll('\n', ' ');
  const diff = ['--- a/x', `+++ b/${oneLine}`, '@@ -1 +1 @@', `+${oneLine}`, `-${oneLine}`, oneLine];
  const kinds = ['completed', 'failed', 'limit', 'wall', 'live'] as const;
  const bars = kinds.map(
    (kind, index): Bar => ({
      ...{ attempt: evil, task: evil, from: index, to: 100, kind, ended: evil.slice(0, 100), retry: true, why: evil },
    }),
  );
  const facts: PageFacts = {
    run: evil.slice(0, 100),
    patch: await foldPatch([`diff --git a/${oneLine} b/${oneLine}`, ...diff]),
    timeline: {
      from: 0,
      to: 100,
      waits: [{ for: 'time', why: evil, from: 3, until: 9 }],
      lanes: [{ agent: evil, bars }],
      left: 1,
    },
  };
  return renderPage({ title: evil, about, sections: [{ title: 'Changes', blocks }] }, facts);
}

export const EVIL = [
  '</style></title><script>alert(1)</script><img src=http://evil.example/x.png onerror=alert(1)>',
  '" onload="alert(1)" x="',
  "' style='background:url(http://evil.example)'",
  '&lt;script&gt; &#x202e; <!-- ]]> </svg></pre></details>',
  '\u001b[2J\u001b]0;owned\u0007\u202egnp.exe\u200b\u0000\b\r\ud800',
].join('\n');

/** A run with a failed turn, a rejected one, a limit, a wait and two engines. */
export function eventful(): RecordedRun {
  const about = definition({ criteria: [{ text: 'tests pass', command: 'npm test', done: false, line: 1 }] });
  let reviews = 0;
  const { entries } = play(about, {
    turn: ({ review }) => {
      if (review === null) return undefined;
      reviews += 1;
      return reviews === 1 ? rejects('no test') : undefined;
    },
  });
  const run = new RecordedRun(about).allocate().plan(entries);
  const limit = { kind: 'rate-limited', message: 'too many requests', mayHaveActed: false } as const;
  const wall = { kind: 'stalled', message: 'no sign of life', mayHaveActed: true } as const;
  run.turn('a', 1, 'bob', { outcome: 'failed', failure: limit });
  run.decide('ask', 'a person has to log in');
  run.clock.time += 60_000;
  run.decide('start', '1 task ready');
  run.turn('a', 2, 'bob', { outcome: 'timed-out', failure: wall }).turn('a', 3, 'bob', { usage: usage(10, 0.5) });
  return run.turn('b', 1, 'cyd').publish();
}

/** Three stages: one that was judged twice, one in which two agents are at work, and one that waits. */
export function stagesOf(text: string): ShownStage[] {
  const round = { taken: 2, cap: 4 };
  return [
    {
      ...{ id: 'SPEC_REVIEW', title: 'Spec Review', state: 'done', tasks: ['spec'], round },
      by: ['rex', text],
      startedAt: 0,
      endedAt: 9,
    },
    { ...{ id: text, title: text, state: 'live', tasks: ['a', 'b'] }, by: ['bob', 'cyd'], startedAt: 9 },
    { ...{ id: 'COMPLETE', title: 'The end', state: 'waiting', tasks: [] }, by: [] },
  ];
}

/** The page of that run, with a diff. */
export async function eventfulPage(stages: readonly ShownStage[] = []): Promise<string> {
  const run = eventful();
  const reading = { ...run.read(), stages };
  const git = { base: BASE, head: HEAD, commits: [{ commit: HEAD, subject: 'Tidy' }], diffStat: ' a | 1 +' };
  const patch = await foldPatch(['diff --git a/shelf b/shelf', '--- a/shelf', '+++ b/shelf', '@@ -0,0 +1 @@', '+tidy']);
  const now = run.clock.time;
  const facts = { timeline: timelineOf(reading, now), patch, run: 'tidy' };
  return renderPage(reportOf(reading, viewOf(reading, { now }), now, git), facts);
}
