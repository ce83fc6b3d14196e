// @module-tag all
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWebBench } from './web-bench.ts';

const key = () => ({ key: randomUUID() });

describe('squad watch --web', { timeout: 120_000 }, () => {
  it('follows a run, and takes an answer, a note and a review of lines', async () => {
    const bench = openWebBench();
    onTestFinished(() => bench.end());
    expect((await bench.runAll()).code).toBe(3);
    const web = await bench.serve();

    // The question with its plan, and an answer to it.
    const page = await web.get('');
    expect(page).toMatchObject({ status: 200, headers: { 'referrer-policy': 'no-referrer' } });
    expect(page.text).toContain('Make a &lt;b&gt;bold&lt;/b&gt; one');
    expect(page.text).toContain('Approve the plan');
    expect(page.text).toContain('no estimate: fewer than 3 runs of delivery');
    const [, version = ''] = /data-version="([^"]+)"/.exec(page.text) ?? [];
    const stream = await web.events(`events?since=${version}`);
    onTestFinished(() => stream.close());
    expect(await web.post('answer', { ...key(), question: 'plan-1', plan: 'tasks: [' })).toMatchObject({ status: 422 });
    const answered = await web.post('answer', { ...key(), question: 'plan-1', answer: 'approve' });
    expect(JSON.parse(answered.text)).toEqual({
      said: 'plan-1 is answered. No engine is running. Next: squad resume make-things',
    });
    await stream.next(({ regions }) => regions['waiting']?.includes('is answered') === true);

    // What the agent says comes by itself; it is told something.
    const engine = bench.start(['resume', '--json']);
    const says = await engine.line(({ type, text }) => type === 'text' && text === 'I look around first.');
    const shown = await stream.next(({ regions }) => regions['agents']?.includes('I look around first.') === true);
    expect(shown.at - Number(says['at'])).toBeLessThan(2_000);
    const nobody = await web.post('tell', { ...key(), agent: 'builder-9', text: 'hi' });
    expect([nobody.status, JSON.parse(nobody.text)]).toEqual([
      422,
      { error: expect.stringContaining('builder-9') as string, next: 'See the run with `squad status make-things`.' },
    ]);
    expect(await web.post('tell', { ...key(), agent: 'builder-1', text: 'use tabs', now: true })).toMatchObject({
      status: 200,
    });
    await stream.next(({ regions }) => regions['agents']?.includes('I was told.') === true);

    // A line of its work is commented while it is reviewed.
    const { message } = await stream.next(({ regions }) => regions['works']?.includes('+three') === true);
    expect(message.regions['works']).toContain('It goes back to its author');
    const comment = { path: 'a.txt', line: 2, quote: 'two', text: 'In capitals, please.' };
    const gone = await web.post('review', { ...key(), task: 'a', comments: [comment, { ...comment, line: 9 }] });
    expect([gone.status, JSON.parse(gone.text)]).toMatchObject([
      422,
      { error: expect.stringMatching(/^line 9 of a\.txt is gone/) as string },
    ]);
    const sent = { ...key(), task: 'a', comments: [comment] };
    for (const once of [sent, sent]) expect(await web.post('review', once)).toMatchObject({ status: 200 });
    writeFileSync(bench.gates.work, '');
    writeFileSync(bench.gates.review, '');
    expect((await engine.finished).code).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('one\nTWO\nthree');
    await stream.next(({ news }) => news.startsWith('make-things: DONE'));

    // A turn, and all that was delivered, each at an address of its own that others are refused.
    const [, turn = ''] = /href="(turns\/[^"]+)"/.exec((await web.get('')).text) ?? [];
    expect((await web.get(turn)).text).toContain('Turn of');
    const told = await web.events(`${turn}/events`);
    const { message: whole } = await told.next(() => true);
    expect(whole.order).toEqual(expect.arrayContaining(['head', 'prompt', 'steps']));
    told.close();
    const unknown = await web.get('turns/make-things.9.b-1');
    expect([unknown.status, unknown.text.includes('has no turn')]).toEqual([422, true]);
    const diff = await web.get('diff');
    expect(diff.text).toContain('+TWO');
    expect(diff.text).toContain('data-line="-2"');
    const changes = await web.events('diff/events');
    expect((await changes.next(() => true)).message.order).toEqual(['head', 'files']);
    changes.close();

    web.serving.child.kill('SIGINT');
    expect(await web.serving.finished).toMatchObject({ stderr: '' });
  });
});
