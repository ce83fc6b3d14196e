import { describe, expect, it } from 'vitest';
import { HEAD } from '../../view/report/support.ts';
import { EVIL, eventful, stagesOf } from '../../view/report/pages.ts';
import { EMPTY_BOARD, type BoardState } from '../../../src/cli/board/board-state.ts';
import { diffPage } from '../../../src/cli/web/diff-page.ts';
import { documentOf, idOf } from '../../../src/cli/web/page.ts';
import type { RunFacts } from '../../../src/cli/web/run-facts.ts';
import { liveRegions, runPage, settledRegions } from '../../../src/cli/web/run-page.ts';
import { runsPage } from '../../../src/cli/web/runs-page.ts';
import { Series } from '../../../src/cli/web/series.ts';
import { turnPage } from '../../../src/cli/web/turn-page.ts';
import type { AskedPlan } from '../../../src/model/plan/asked-question.ts';
import { foldPatch } from '../../../src/view/report/patch.ts';
import { markup } from '../../../src/view/report/markup.ts';
import { shownTeam } from '../../../src/view/sprint/shown-team.ts';
import { viewOf } from '../../../src/view/view-of.ts';
import { teamAfter } from '../../support/team-records.ts';

/** A run whose question, plan, work and agents say this everywhere. */
async function factsOf(text: string): Promise<RunFacts> {
  const run = eventful();
  const now = run.clock.time;
  const reading = { ...run.read(), stages: stagesOf(text) };
  const line = text.replaceAll('\n', ' ');
  const asked: AskedPlan = {
    ...{ summary: text, note: text, limits: { usd: 1, turns: 2, minutes: 3, tokens: 4 } },
    tasks: [
      {
        ...{ id: text, title: text, role: text, agents: [text], review: [text], needs: [text] },
        ...{ brief: text, files: [text], acceptance: [text] },
      },
    ],
    criteria: [{ text, command: text, proposed: true }],
    commands: [{ for: 'verify', run: text }],
    changes: [{ change: 'changed', task: text, field: 'brief', before: text, after: `${text}.` }],
  };
  const view = viewOf(reading, { now });
  return {
    ...{ now, reading, mail: undefined, plan: { question: 'plan-1', file: text } },
    team: shownTeam(teamAfter({ sprints: 1, active: true, hostile: text })),
    view: {
      ...view,
      end: null,
      questions: [
        { id: 'plan-1', text, options: ['approve', 'stop'], plan: asked },
        { id: text, text, options: [text] },
      ],
      waits: { waitingFor: null, asks: [{ id: `${text}/ask-1`, agent: text, text, until: now }] },
      next: [text],
    },
    works: [
      {
        ...{ task: 'a', commit: HEAD },
        patch: await foldPatch([
          `diff --git a/${line} b/${line}`,
          `--- a/${line}`,
          `+++ b/${line}`,
          '@@ -1 +1 @@',
          `-${line}`,
          `+${line}`,
        ]),
      },
    ],
  };
}

function boardOf(text: string): BoardState {
  const agent = { name: text, role: text, model: text, account: text, idleSince: undefined };
  const transcript = (['says', 'tool', 'failed'] as const).map((kind) => ({ at: 1, kind, text }));
  return {
    ...EMPTY_BOARD,
    agents: new Map([[text, { ...agent, transcript }]]),
    live: new Map([['x', { task: text, agent: text, kind: 'turn', since: 1, doing: { text, since: 1 } }]]),
    activity: [{ at: 1, who: text, text, tone: 'bad' }],
  };
}

async function pageOf(text: string): Promise<string> {
  const facts = await factsOf(text);
  return documentOf(runPage(facts, settledRegions(facts), liveRegions(boardOf(text), facts)), {
    home: '../../',
    version: 'x.1',
  });
}

/** Elements and the names of their attributes. */
function tagsOf(html: string): string[] {
  return [...html.matchAll(/<\/?[a-z][^<>]*>/gi)].map(([tag]) => tag.replaceAll(/="[^"]*"/g, ''));
}

describe('what others wrote on the live page', () => {
  const same = (evil: string, harmless: string) => {
    const usual = (html: string) => tagsOf(html).filter((tag) => !/^<\/?(?:text|p)\b/.test(tag));
    expect(usual(evil)).toEqual(usual(harmless));
    expect(evil).not.toMatch(/<img|<script>|javascript:| on[a-z]+="/i);
    // eslint-disable-next-line no-control-regex
    expect(evil).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
  };

  it('is text in questions, plans, diffs, transcripts and reports', async () => {
    same(await pageOf(EVIL), await pageOf('xy\n'.repeat(EVIL.split('\n').length).trim()));
  });

  it('is text in the list of runs and on the page of a turn', () => {
    const listOf = (text: string) => {
      const run = {
        ...{ runId: 'r-1', name: text, parent: null, objective: text, source: text, playbook: text, createdAt: 1 },
        ...{
          deadline: null,
          state: 'waiting' as const,
          headline: text,
          tasks: { all: 1, done: 0 },
          stage: null,
          elapsedMs: 1,
        },
        usage: { inputTokens: null, outputTokens: null, costUsd: null, unknownTurns: 0, unknownCostTurns: 0 },
        ...{ need: null, why: text, open: 1, queued: null },
      } as const;
      const waits = { ...run, queued: { place: 2, waits: text } };
      const team = shownTeam(teamAfter({ sprints: 1, active: true, hostile: text }));
      const runs = [run, waits, { ...run, queued: { place: 1, waits: null } }];
      return documentOf(runsPage([{ id: 's', name: text, root: text, runs, team }]), { home: './', version: 'x.1' });
    };
    expect(listOf('xy')).toContain('place 2 in the queue: xy');
    expect(listOf('xy')).toContain('place 1 in the queue</p>');
    const turnOf = (text: string) =>
      documentOf(
        turnPage(
          {
            ...{ attempt: text, id: text, task: text, agent: text, runtime: text, kind: 'turn', isReview: false },
            ...{ claimedAt: 1, prompt: text, gone: null, dropped: 0 },
            steps: [
              { did: 'said', text },
              { did: 'used', tool: text, target: text, result: 'failed', output: text },
            ],
            result: {
              outcome: 'completed',
              text,
              structured: undefined,
              failure: undefined,
              usage: undefined,
              durationMs: 1,
            },
          },
          text,
        ),
        { home: '../../../', version: undefined },
      );
    same(listOf(EVIL), listOf('xy'));
    same(turnOf(EVIL), turnOf('xy'));
  });

  it('is text in the diff of the whole run', async () => {
    const diffOf = async (text: string) => {
      const [work] = (await factsOf(text)).works;
      const changes = { from: HEAD, commit: HEAD, patch: work?.patch ?? { files: [], missing: 0 } };
      return documentOf(diffPage(text, changes), { home: '../../', version: 'x.1', events: 'diff/events' });
    };
    same(await diffOf(EVIL), await diffOf('xy'));
    expect(await diffOf('xy')).toContain('data-line="-1"');
    expect(diffPage('run', undefined).regions[0]?.html.text).toContain('Nothing is delivered yet');
  });

  it('shows a task with its lines numbered, and says what a review of it does', async () => {
    const page = await pageOf('xy');
    expect(page).toContain('data-line="1"');
    expect(page).toMatch(/Your review of a<\/h4><p>[^<]+ in its next turn/);
    const facts = await factsOf('xy');
    const over = { ...facts, view: { ...facts.view, end: viewOf(facts.reading, { now: facts.now }).end } };
    const settled = settledRegions(over)
      .map(({ html }) => html.text)
      .join('');
    expect(settled).toContain('no agent of it reads comments any more');
    expect(settled).not.toContain('data-act="review"');
  });
});

describe('ids from texts of others', () => {
  it('differ where the texts do, and are one word', () => {
    const texts = ['a', 'A', 'a b', 'a.b', 'a/b', 'a.20b', 'ä', '', EVIL];
    const ids = texts.map((text) => idOf('x', text));
    expect(new Set(ids).size).toBe(texts.length);
    for (const id of ids) expect(id).toMatch(/^[\w.-]+$/);
  });
});

describe('versions of a page', () => {
  const page = (title: string, parts: Readonly<Record<string, string>>) => ({
    ...{ title, news: '' },
    regions: Object.entries(parts).map(([id, text]) => ({ id, html: markup`${text}` })),
  });
  const read = (message: string | undefined) => {
    const [, id = '', data = '{}'] = /^id: (\S+)\nevent: page\ndata: (.*)\n\n$/.exec(message ?? '') ?? [];
    return { id, ...(JSON.parse(data) as { title?: string; order?: string[]; regions?: Record<string, string> }) };
  };

  it('send only what has changed, and all of it to a browser of another series', () => {
    const series = new Series();
    expect(read(series.take(page('t', { a: '1', b: '1' }))).regions).toEqual({ a: '1', b: '1' });
    const { version } = series.current();
    expect(series.take(page('t', { a: '1', b: '1' }))).toBeUndefined();
    expect(read(series.take(page('t', { a: '1', b: '2' }))).regions).toEqual({ b: '2' });
    expect(read(series.take(page('t', { b: '2', c: '\n<' })))).toMatchObject({
      order: ['b', 'c'],
      regions: { c: '\n&lt;' },
    });
    expect(read(series.after(version)).regions).toEqual({ b: '2', c: '\n&lt;' });
    expect(read(series.after(series.current().version)).regions).toEqual({});
    for (const strange of ['', 'x.3', version.split('.')[0] ?? '', 'constructor', `${version}9e9`]) {
      expect(Object.keys(read(series.after(strange)).regions ?? {})).toEqual(['b', 'c']);
    }
  });
});
