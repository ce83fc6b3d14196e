import { but, GOOD, ISSUE, type Draft } from './drafts.ts';
import { NOW } from './support.ts';
import { refuses, type Malformed } from './refuses.ts';

const { review, assign, clarify, verify, feedback, note, answer, done, noIssues, verified, fail } = GOOD;
const issue = ISSUE;
const lacking = (one: Draft, name: string) => but(one, {}, { [name]: undefined });
const body = (one: Draft, text: string) => but(one, { body: text });
const issues = (...list: readonly unknown[]) =>
  but(feedback, {}, { issues: list, issue_count: list.length, has_issues: list.length > 0 });

const TEXTS: readonly Malformed[] = [
  ['a body of two lines', done, body(done, '{"a":\n1}'), 'body', 'must be one line'],
  ['a body that ends its line', done, body(done, '{}\r'), 'body', 'must be one line'],
  ['a body that is no JSON', done, body(done, 'I am done'), 'body', 'must be the text of one JSON object'],
  ['an empty body', done, body(done, ''), 'body', 'must be the text of one JSON object'],
  ['two objects', done, body(done, '{}{}'), 'body', 'must be the text of one JSON object'],
  ['a list', done, body(done, '[]'), 'body', 'must be the text of one JSON object'],
  ['a text in JSON', done, body(done, '"{}"'), 'body', 'must be the text of one JSON object'],
  ['null', done, body(done, 'null'), 'body', 'must be the text of one JSON object'],
  ['a body over 256 KiB', done, body(done, `{"a":"${'ä'.repeat(131_072)}"}`), 'body', 'must not have more than 262144 bytes'],
  ['half a character', done, body(done, '{"a":"\ud800"}'), 'body', 'must not have half a character'],
  ['65 lists in each other', done, body(done, `{"a":${'['.repeat(64)}${']'.repeat(64)}}`), 'body', 'must not nest more than 64'],
  [
    'a flood of values',
    done,
    body(done, `{"a":[${'0,'.repeat(20_000)}0]}`),
    'body',
    'must not have more than 20000 names and values',
  ],
  ['a number beyond numbers', done, body(done, '{"a":1e999}'), 'body', 'must not have a number that is too large'],
  ['a field __proto__', done, body(done, '{"a":[{"__proto__":{}}]}'), 'body', 'must not have a field __proto__'],
  [
    'base64 of what has a form',
    done,
    but(done, { body: 'e30=', body_encoding: 'base64' }),
    'body_encoding',
    'must be json;',
  ],
  ['base64 with a space', note, but(note, { body: 'aGk= ', body_encoding: 'base64' }), 'body', 'must be strict base64'],
  ['base64 without padding', note, but(note, { body: 'aGk', body_encoding: 'base64' }), 'body', 'must be strict base64'],
  [
    'base64 with bits left over',
    note,
    but(note, { body: 'aGl=', body_encoding: 'base64' }),
    'body',
    'must be strict base64',
  ],
  [
    'base64 of one byte with bits left over',
    note,
    but(note, { body: 'aB==', body_encoding: 'base64' }),
    'body',
    'must be strict base64',
  ],
  ['base64 for addresses', note, but(note, { body: 'a_-k', body_encoding: 'base64' }), 'body', 'must be strict base64'],
  ['base64 in two lines', note, but(note, { body: 'aGk=\naGk=', body_encoding: 'base64' }), 'body', 'must be one line'],
];

const REQUIRED: readonly (readonly [string, Draft, readonly string[]])[] = [
  ['a review', review, ['doc_path']],
  ['an assignment', assign, ['task_type', 'files', 'success_criteria']],
  ['a clarify', clarify, ['code_path', 'question', 'context']],
  ['a verify', verify, ['doc_path', 'changes_summary', 'question']],
  ['a report', feedback, ['doc_path', 'has_issues']],
  ['a verified', verified, ['has_new_issues']],
  ['a fail', fail, ['reason']],
];

const BODIES: readonly Malformed[] = [
  ...REQUIRED.flatMap(([what, one, names]) =>
    names.map((name): Malformed => [`${what} without ${name}`, one, lacking(one, name), `body.${name}`, 'is required']),
  ),
  [
    'other reviewers than recipients',
    review,
    but(review, {}, { reviewers: ['A', 'C'] }),
    'body.reviewers',
    'must be the same as `to`',
  ],
  [
    'fewer reviewers than recipients',
    review,
    but(review, {}, { reviewers: ['A'] }),
    'body.reviewers',
    'must be the same as `to`',
  ],
  ['one reviewer twice', review, but(review, {}, { reviewers: ['A', 'A'] }), 'body.reviewers', 'must be the same as `to`'],
  [
    'a review that is over',
    review,
    but(review, {}, { review_deadline: NOW }),
    'body.review_deadline',
    'must be in the future',
    'deadline_exceeded',
  ],
  [
    'a review’s deadline as a text',
    review,
    but(review, {}, { review_deadline: '1h' }),
    'body.review_deadline',
    'must be a number',
  ],
  [
    'a path of two lines',
    review,
    but(review, {}, { doc_path: 'a\nb' }),
    'body.doc_path',
    'needs 1 to 500 characters in one line',
  ],
  ['no words', clarify, but(clarify, {}, { question: ' \u3000' }), 'body.question', 'needs some words'],
  [
    'a kind of work of 101 characters',
    assign,
    but(assign, {}, { task_type: 'x'.repeat(101) }),
    'body.task_type',
    'needs 1 to 100 characters',
  ],
  [
    'a kind of work of two lines',
    assign,
    but(assign, {}, { task_type: 'x\n# y' }),
    'body.task_type',
    'needs 1 to 100 characters',
  ],
  ['no criteria', assign, but(assign, {}, { success_criteria: [] }), 'body.success_criteria', 'must have at least 1 entry'],
  ['criteria as a text', assign, but(assign, {}, { success_criteria: 'works' }), 'body.success_criteria', 'must be a list'],
  [
    'a dependency that there is not',
    assign,
    but(assign, {}, { dependencies: ['DOC-1', 'X'] }),
    'body.dependencies[1]',
    'is an unknown task; open tasks: DOC-1, FEAT-1, FEAT-2, LATE-1',
    'missing_dependency',
  ],
  [
    'a dependency that failed',
    assign,
    but(assign, {}, { dependencies: ['FAILED-1'] }),
    'body.dependencies[0]',
    'is a task that failed; open tasks: DOC-1, FEAT-1',
    'missing_dependency',
  ],
  [
    'a task that depends on itself',
    assign,
    but(assign, {}, { dependencies: ['FEAT-9'] }),
    'body.dependencies[0]',
    'must be another task than its own',
  ],
  [
    'a wrong count of issues',
    feedback,
    but(feedback, {}, { issue_count: 3 }),
    'body.issue_count',
    'must be the number of issues',
  ],
  [
    'issues that there are not',
    feedback,
    but(feedback, {}, { issues: [], issue_count: 0 }),
    'body.has_issues',
    'must be true if there are issues',
  ],
  [
    'issues that are denied',
    feedback,
    but(feedback, {}, { has_issues: false }),
    'body.has_issues',
    'must be true if there are issues',
  ],
  [
    'an unknown category',
    feedback,
    issues(issue, { ...issue, category: 'style' }),
    'body.issues[1].category',
    'must be one of func, perf, ux, security, docs',
  ],
  [
    'an unknown severity',
    feedback,
    issues({ ...issue, severity: 'critical' }),
    'body.issues[0].severity',
    'must be one of high, medium, low',
  ],
  [
    'an issue without a summary',
    feedback,
    issues({ ...issue, summary: undefined }),
    'body.issues[0].summary',
    'is required',
  ],
  [
    'an issue without a suggestion',
    feedback,
    issues({ ...issue, suggestion: undefined }),
    'body.issues[0].suggestion',
    'is required',
  ],
  [
    'an issue that is nowhere',
    feedback,
    issues({ ...issue, doc_path: undefined, code_paths: [] }),
    'body.issues[0].doc_path',
    'is required, unless',
  ],
  ['an issue that is a text', feedback, issues('wrong'), 'body.issues[0]', 'must be an object'],
  ['paths as a text', feedback, issues({ ...issue, code_paths: 'a' }), 'body.issues[0].code_paths', 'must be a list'],
  [
    'a span that ends before it starts',
    feedback,
    issues({ ...issue, code_span: { start_line: 5, end_line: 4 } }),
    'body.issues[0].code_span.end_line',
    'must not be before start_line',
  ],
  [
    'a span from line 0',
    feedback,
    issues({ ...issue, code_span: { start_line: 0, end_line: 4 } }),
    'body.issues[0].code_span.start_line',
    'must be above 0',
  ],
  [
    'an answer without document or reason',
    answer,
    but(answer, {}, { doc_updated: false, reason: ' ' }),
    'body.doc_updated',
    'must be true, unless `reason` says why',
  ],
  [
    'a done of a review with issues',
    noIssues,
    but(noIssues, {}, { status: 'issues' }),
    'body.status',
    'must be no_issues in answer to a review',
  ],
  [
    'new issues, but none',
    verified,
    but(verified, {}, { has_new_issues: true }),
    'body.new_issue_count',
    'must be above 0 if there are new issues',
  ],
  [
    'no new issues, but some',
    verified,
    but(verified, {}, { new_issue_count: 1 }),
    'body.new_issue_count',
    'must be above 0 if',
  ],
  ['a failure blocked by a text', fail, but(fail, {}, { blocked_by: 'DOC-1' }), 'body.blocked_by', 'must be a list'],
];

refuses('text of a body', TEXTS);
refuses('body', BODIES);
