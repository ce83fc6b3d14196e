import { describe, expect, it } from 'vitest';
import { ALL } from '../../support/lane.ts';
import { editIssue } from '../../support/github/fake-issues.ts';
import { intakeRoom, SECRET } from './intake-room.ts';

describe('issues as runs', () => {
  it('takes one that a member has labelled, once, and says so there', ALL, async () => {
    const room = await intakeRoom({ playbooks: { bug: 'delivery' } });
    room.issue(12, { title: `Login with ${SECRET}`, labels: ['bug'] });
    room.pass(5_000);
    room.label(12, 'squad', 'ann');
    await room.step();
    expect(room.said).toEqual([expect.stringContaining('issue 12 is queued as issue-12')]);
    expect(room.open()).toHaveLength(1);
    await room.step();
    await room.step();
    expect(room.open()).toHaveLength(1);
    expect(room.state.issues.get(12)?.labels).toEqual(['bug', 'squad', 'squad:running']);
    expect(room.posts(12)).toEqual([expect.stringMatching(/^<!-- squad:issue\/LE_\d+ -->\nsquad works on this issue/)]);
    expect(JSON.stringify(room.records())).not.toContain(SECRET);
  });

  it.each([
    ['a person who may not', 'tess', 'not-allowed'],
    ['a stranger', 'mallory', 'not-allowed'],
    ['a member, before its author changed the text', 'ann', 'edited'],
  ])('leaves one that was labelled by %s', ALL, async (_, actor, left) => {
    const room = await intakeRoom();
    room.issue(12);
    room.label(12, 'squad', actor);
    if (left === 'edited') editIssue(room.state, 12, 'Do something else.');
    await room.step();
    await room.step();
    expect(room.allRuns()).toEqual([]);
    expect(room.records()).toMatchObject([{ number: 12, left }]);
    expect(room.posts(12)).toHaveLength(1);
    room.label(12, 'squad', 'owner', false);
    room.pass(2_000);
    room.label(12, 'squad', 'owner');
    await room.step();
    expect(room.allRuns()).toHaveLength(1);
  });

  it('says how a run ended, in the same comment, and nothing after that', ALL, async () => {
    const room = await intakeRoom();
    room.issue(7);
    room.label(7, 'squad', 'owner');
    await room.step();
    const [name = ''] = room.open();
    const headline = `Closes #1, thanks @mallory ![x](https://evil.example/${SECRET})`;
    const pushed = { branch: 'b', head: 'c', remote: 'origin', pr: 'https://github.com/acme/app/pull/9' };
    await room.end(name, { headline, pushed });
    await room.step();
    const [post = '', ...others] = room.posts(7);
    expect(others).toEqual([]);
    expect(post).toContain('is **done**');
    expect(post).toContain('Pull request: https://github.com/acme/app/pull/9');
    expect(post).toContain('\n```\nCloses #1');
    expect(post).not.toContain(SECRET);
    expect(room.state.issues.get(7)?.labels).toEqual(['squad', 'squad:done']);
    const before = new Map(room.fake.calls);
    for (let look = 0; look < 5; look += 1) await room.step();
    // Its own comment is looked at once.
    expect(room.fake.calls.get('read')).toBe((before.get('read') ?? 0) + 1);
    expect(room.fake.calls.get('post')).toBe(before.get('post'));
    expect(room.allRuns()).toHaveLength(1);
    room.label(7, 'squad', 'owner', false);
    room.pass(2_000);
    room.label(7, 'squad', 'owner');
    await room.step();
    expect(room.allRuns()).toHaveLength(2);
    expect(room.posts(7)).toHaveLength(2);
  });

  it('pauses a run whose issue lost its label or was closed, and lets it go on', ALL, async () => {
    const room = await intakeRoom();
    room.issue(7);
    room.label(7, 'squad', 'ann');
    await room.step();
    room.label(7, 'squad', 'tess', false);
    await room.step();
    expect(room.said.at(-1)).toMatch(/is paused: issue 7 lost its label/);
    expect(room.posts(7)[0]).toContain('the label was taken away');
    expect(room.state.issues.get(7)?.labels).toEqual(['squad:waiting']);
    room.pass(2_000);
    room.label(7, 'squad', 'tess');
    await room.step();
    expect(room.records()).toMatchObject([{ withdrawn: 'label' }]);
    room.label(7, 'squad', 'tess', false);
    room.pass(2_000);
    room.label(7, 'squad', 'owner');
    await room.step();
    expect(room.said.at(-1)).toMatch(/continues/);
    expect(room.state.issues.get(7)?.labels).toEqual(['squad', 'squad:running']);
    expect(room.allRuns()).toHaveLength(1);
    const issue = room.state.issues.get(7);
    if (issue !== undefined) issue.state = 'closed';
    await room.step();
    expect(room.posts(7)[0]).toContain('the issue is closed');
    room.state.issues.delete(7);
    await room.step();
    await room.step();
    expect(room.records()).toMatchObject([{ withdrawn: 'closed' }]);
  });

  it('starts nothing without consent', ALL, async () => {
    const room = await intakeRoom({}, false);
    room.issue(7);
    room.label(7, 'squad', 'owner');
    await expect(room.step()).rejects.toThrow(/no person has agreed/);
    expect(room.fake.calls.size).toBe(0);
  });
});
