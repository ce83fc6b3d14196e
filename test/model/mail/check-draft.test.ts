import { describe, expect, it } from 'vitest';
import { REVIEW_MS } from '../../../src/model/mail/times.ts';
import { but, GOOD, ISSUE, wire, without } from './drafts.ts';
import { checkIn, check, contextOf, EPOCH, HOUR, idOf, NOW, POLICY, SESSION } from './support.ts';

const { review, assign, handoff, clarify, verify, feedback, note, done, noIssues, verified, answer, fail } = GOOD;

/** What is kept of a draft that is taken. */
function keptOf(by: string, draft: unknown) {
  const checked = check(by, draft);
  if (!checked.ok) throw new Error(JSON.stringify(checked.refusal));
  return checked.draft;
}

describe('a good message', () => {
  it.each(Object.entries(GOOD))('%s passes, and its body is kept as it was', (_name, good) => {
    const body = JSON.stringify(good.body);
    expect(keptOf(good.by, wire(good))).toMatchObject({ ...good.said, body, fields: good.body });
  });

  it.each([
    ['review', review],
    ['assign', assign],
    ['handoff', handoff],
    ['ask', clarify],
    ['ask', verify],
    ['report', feedback],
    ['send', note],
    ['send', answer],
    ['done', done],
    ['done', verified],
    ['fail', fail],
  ] as const)('takes the permission to %s', (verb, good) => {
    expect(keptOf(good.by, wire(good)).verb).toBe(verb);
    const context = contextOf(good.by);
    const sender = { ...context.sender, verbs: context.sender.verbs.filter((one) => one !== verb) };
    expect(checkIn({ ...context, sender }, wire(good))).toMatchObject({ refusal: { reason: 'not_authorized' } });
  });

  it('may say which version, session and epoch it means', () => {
    expect(keptOf('A', but(done, { v: '1', session: SESSION, epoch: EPOCH }))).toEqual(keptOf('A', wire(done)));
  });

  it('takes addresses and roles in any capitals, and keeps them in one', () => {
    expect(keptOf('A', but(done, { to: ['main'] })).to).toEqual(['MAIN']);
    expect(keptOf('MAIN', but(review, { to: ['b', 'A'], owner: 'Main' }))).toMatchObject({
      to: ['B', 'A'],
      owner: 'MAIN',
    });
    expect(keptOf('builder-1', but(handoff, { to: ['Reviewer'] })).to).toEqual(['reviewer']);
  });

  it('answers what came to its sender’s role', () => {
    expect(keptOf('builder-1', but(done, { corr: idOf(7), task_id: 'FEAT-2' }))).toMatchObject({ corr: idOf(7) });
  });
});

describe('what is left out', () => {
  it('is json, of the sender, and under way as long as the run allows', () => {
    const { body_encoding, owner, ttl_ms } = keptOf('MAIN', without(assign, 'owner'));
    expect({ body_encoding, owner, ttl_ms }).toEqual({ body_encoding: 'json', owner: 'MAIN', ttl_ms: POLICY.ttlMs });
  });

  it('is a report’s only action', () => {
    expect(keptOf('B', without(feedback, 'action')).action).toBe('review_feedback');
  });

  it('is the task of what is answered', () => {
    expect(keptOf('A', without(done, 'task_id')).task_id).toBe('FEAT-1');
    expect(keptOf('A', without(clarify, 'task_id')).task_id).toBe('FEAT-1');
  });

  it('is an hour for a review, by the recipients', () => {
    const draft = but(
      review,
      { to: ['B', 'A'] },
      { reviewers: undefined, review_deadline: undefined, focus: undefined },
    );
    const fields = { doc_path: 'docs/design.md', focus: [], reviewers: ['B', 'A'], review_deadline: NOW + REVIEW_MS };
    expect(keptOf('MAIN', draft)).toMatchObject({ fields, body: JSON.stringify(fields) });
  });

  it('is counted in a report', () => {
    expect(keptOf('B', but(feedback, {}, { issue_count: undefined })).fields).toMatchObject({ issue_count: 2 });
    const none = { doc_path: 'd.md', has_issues: false };
    expect(keptOf('B', but(feedback, { body: JSON.stringify(none) })).body).toBe(
      '{"doc_path":"d.md","has_issues":false,"issue_count":0,"issues":[],"summary":"","questions":[]}',
    );
  });

  it('is that a review has found nothing', () => {
    expect(keptOf('A', but(noIssues, { body: '{}' })).body).toBe('{"status":"no_issues"}');
    expect(keptOf('A', but(done, { body: '{}' })).body).toBe('{}');
  });
});

describe('bodies that say the same', () => {
  const issueOf = (body: unknown) => {
    const draft = keptOf('B', but(feedback, { body: JSON.stringify(body) }));
    return JSON.stringify((JSON.parse(draft.body) as { issues: unknown[] }).issues[0]);
  };
  const report = (issue: unknown) => ({ issues: [issue], has_issues: true, doc_path: 'd.md' });

  it('are the same text, whatever order their fields came in', () => {
    const { summary, severity, code_span, ...others } = ISSUE;
    const span = { end_line: code_span.end_line, start_line: code_span.start_line };
    expect(issueOf(report({ severity, summary, code_span: span, ...others }))).toBe(JSON.stringify(ISSUE));
  });

  it('pass on what the protocol does not know, behind and by name', () => {
    const extra = { zeta: { b: [{ y: 1, x: 2 }], a: null }, alpha: 'α' };
    const expected = `${JSON.stringify(ISSUE).slice(0, -1)},"alpha":"α","zeta":{"a":null,"b":[{"x":2,"y":1}]}}`;
    expect(issueOf(report({ ...extra, ...ISSUE }))).toBe(expected);
    const body = keptOf('B', but(feedback, {}, { zeta: 1, alpha: 2 })).body;
    expect(body.slice(-21)).toBe(',"alpha":2,"zeta":1}'.padStart(21, ']'));
  });

  it('have the places of an issue by path, then by line', () => {
    const code_paths = ['b.py#L9', 'a.py#L10-L12', 'b.py', 'a.py#L9', 'B.py#L1', 'a.py#L10'];
    const sorted = ['B.py#L1', 'a.py#L9', 'a.py#L10-L12', 'a.py#L10', 'b.py', 'b.py#L9'];
    expect(JSON.parse(issueOf(report({ ...ISSUE, code_paths, doc_paths: ['z#L2', 'z#L1'] })))).toMatchObject({
      code_paths: sorted,
      doc_paths: ['z#L1', 'z#L2'],
    });
  });

  it('are one line on any screen', () => {
    const { body } = keptOf('A', but(done, { body: '{"a":"\u2028\u2029\u0085\u009b2J","b": "\\n\\u001b"}' }));
    expect(body).toBe('{"a":"\\u2028\\u2029\\u0085\\u009b2J","b":"\\n\\u001b"}');
  });

  it('are read in one way only', () => {
    expect(keptOf('A', but(done, { body: '{"a":1,"a":2,"b":-0}' }))).toMatchObject({
      body: '{"a":2,"b":0}',
      fields: { a: 2, b: 0 },
    });
    const named = keptOf('A', but(done, { body: '{"constructor":{"prototype":{"x":1}},"toString":1}' }));
    expect(named.body).toBe('{"constructor":{"prototype":{"x":1}},"toString":1}');
    expect(Object.getPrototypeOf(named.fields)).toBe(Object.prototype);
    expect('x' in {}).toBe(false);
  });
});

describe('a note', () => {
  it('may begin a thread, or go on with one', () => {
    expect(keptOf('builder-1', wire(note)).corr).toBeUndefined();
    expect(keptOf('builder-1', but(note, { corr: idOf(2) })).corr).toBe(idOf(2));
  });

  it('may be base64, which is kept as it is', () => {
    const draft = but(note, { body: 'AP8=', body_encoding: 'base64' });
    expect(keptOf('builder-1', draft)).toMatchObject({ body: 'AP8=', body_encoding: 'base64', fields: null });
  });
});

describe('a last moment', () => {
  it('counts as in time', () => {
    expect(keptOf('MAIN', but(assign, { deadline: NOW + 1 })).deadline).toBe(NOW + 1);
    expect(keptOf('A', but(done, { ttl_ms: 24 * HOUR })).ttl_ms).toBe(24 * HOUR);
  });

  it('lets a member say that it failed after its deadline', () => {
    expect(keptOf('A', but(fail, { corr: idOf(5), task_id: 'LATE-1' })).verb).toBe('fail');
  });
});
