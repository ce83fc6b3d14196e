import { describe, expect, it } from 'vitest';
import type { BacklogItem, BacklogState } from '../../../src/model/sprint/item.ts';
import type { RequestPlan, SprintRequest } from '../../../src/model/sprint/request.ts';
import type { Team } from '../../../src/model/sprint/team.ts';
import { fingerprintOf } from '../../../src/rules/sprint/fingerprint.ts';
import { intake } from '../../../src/rules/sprint/intake.ts';

const NONE: Team = {
  request: new Map(),
  requestPlan: new Map(),
  review: new Map(),
  item: new Map(),
  itemState: new Map(),
  sprint: new Map(),
  progress: new Map(),
  stop: new Map(),
  end: new Map(),
  finding: new Map(),
};

const asked = (text: string, more: Partial<SprintRequest> = {}): SprintRequest => ({
  text,
  by: 'dana',
  at: 1,
  fingerprint: fingerprintOf(text),
  attachments: [],
  joined: [],
  ...more,
});
const planned = (...items: string[]): RequestPlan => ({ outcome: 'planned', items, answer: 'ok', at: 2 });
const refused: RequestPlan = { outcome: 'refused', items: [], answer: 'no', at: 2 };
const item = (source: string, more: Partial<BacklogItem> = {}): BacklogItem => ({
  title: 'one',
  kind: 'feature',
  acceptance: [],
  priority: 50,
  source,
  version: 1,
  createdAt: 2,
  updatedAt: 2,
  ...more,
});
const state = (name: BacklogState['state'], more: Partial<BacklogState> = {}): BacklogState => ({
  state: name,
  at: 3,
  ...more,
});

/** Each request with one item in the state that its name says, and one item that no request asked for. */
const TEAM: Team = {
  ...NONE,
  request: new Map([
    ['r-00000001', asked('Add a login form')],
    ['r-00000002', asked('Add an export of 15 rows', { key: 'k2' })],
    ['r-00000003', asked('Deploy to the staging server', { joined: [{ text: 'again', by: 'eve', at: 2, key: 'k3' }] })],
    ['r-00000004', asked('Write the changelog')],
    ['r-00000005', asked('Delete the data of all users')],
    ['r-00000006', asked('Paint it green', { cancelledAt: 4 })],
    ['r-00000007', asked('Rename the product', { cancelledAt: 4 })],
    ['r-00000008', asked('Split the tests')],
  ]),
  requestPlan: new Map([
    ['r-00000002', planned('b-export')],
    ['r-00000003', planned('b-deploy', 'b-dns', 'b-docs')],
    ['r-00000004', planned('b-changelog')],
    ['r-00000005', refused],
    ['r-00000007', planned('b-rename')],
    ['r-00000008', planned('b-unit', 'b-slow')],
  ]),
  item: new Map([
    ['b-export', item('request:r-00000002')],
    ['b-deploy', item('request:r-00000003', { priority: 90 })],
    ['b-dns', item('request:r-00000003')],
    ['b-docs', item('request:r-00000003')],
    ['b-changelog', item('request:r-00000004')],
    ['b-rename', item('request:r-00000007')],
    ['b-flaky', item('finding:f1')],
    ['b-unit', item('request:r-00000008')],
    ['b-slow', item('request:r-00000008')],
  ]),
  // Done is what its sprint has delivered.
  end: new Map([['S', { outcome: 'completed', head: 'c0ffee', at: 3 }]]),
  itemState: new Map([
    ['b-deploy', state('blocked', { required_inputs: ['the port of the staging server', 'API_KEY name'] })],
    ['b-dns', state('blocked', { required_inputs: ['domain'] })],
    ['b-docs', state('done')],
    ['b-changelog', state('done', { completed_in_sprint_id: 'S' })],
    ['b-rename', state('blocked')],
    ['b-flaky', state('blocked', { required_inputs: ['owner'] })],
    ['b-unit', state('pending')],
    ['b-slow', state('blocked')],
  ]),
};

const both = { do: 'reopen', request: 'r-00000003', items: ['b-deploy', 'b-dns'] };
const deploy = { ...both, items: ['b-deploy'] };
const dns = { ...both, items: ['b-dns'] };

describe('a text that comes in', () => {
  it.each([
    ['Something that no one has asked for', { do: 'new' }],
    // Asked for already, and open: not planned yet, or planned and not done.
    ['add a LOGIN form!', { do: 'join', request: 'r-00000001' }],
    ['Add an export of 15 rows.', { do: 'join', request: 'r-00000002' }],
    ['Add an export of 16 rows.', { do: 'new' }],
    // Over: done, refused, cancelled.
    ['Write the changelog', { do: 'new' }],
    ['Delete the data of all users', { do: 'new' }],
    ['Paint it green', { do: 'new' }],
    ['Rename the product', { do: 'new' }],
    // The same as a request with blocked items.
    ['deploy to the staging server', both],
    ['Split the tests', { do: 'reopen', request: 'r-00000008', items: ['b-slow'] }],
    // The item or the request by its id.
    ['For b-deploy: it is 8443', deploy],
    ['B-DNS can use example.org', dns],
    ['(b-flaky) ask Ann', { do: 'reopen', request: undefined, items: ['b-flaky'] }],
    ['b-rename: call it Foo', { do: 'reopen', request: undefined, items: ['b-rename'] }],
    ['r-00000003: 8443, and example.org', both],
    ['r-00000001 is urgent', { do: 'new' }],
    ['r-00000003x is no request', { do: 'new' }],
    ['b-deploy-2 is no item', { do: 'new' }],
    ['b-export is not blocked', { do: 'new' }],
    // What an item waits for.
    ['The port of the staging server is 8443', deploy],
    ['It is known now:\n\nThe PORT of the staging server, 8443.', deploy],
    ['The port of the server is 8443', { do: 'new' }],
    ['API_KEY name: STAGING_KEY', deploy],
    ['Show the API_KEY name: in the header', { do: 'new' }],
    ['domain = example.org', dns],
    ['domain is example.org', dns],
    ['Domain names are checked twice', { do: 'new' }],
    ['Let users change their domain', { do: 'new' }],
  ])('%j', (text, found) => {
    expect(intake(TEAM, { text, by: 'eve', attachments: [] })).toEqual(found);
  });

  it.each([
    ['k2', { do: 'known', request: 'r-00000002' }],
    ['k3', { do: 'known', request: 'r-00000003' }],
    ['k4', { do: 'new' }],
  ])('is what was sent under its key before: %s', (key, found) => {
    expect(intake(TEAM, { text: 'Anything else', by: 'eve', attachments: [], key })).toEqual(found);
  });

  it.each([
    ['', 0, 'the request has no text'],
    [' \n\t', 0, 'the request has no text'],
    ['ä'.repeat(32 * 1024), 0, undefined],
    ['ä'.repeat(32 * 1024 + 1), 0, 'the request is larger than 64 KiB'],
    ['go', 20, undefined],
    ['go', 21, 'the request has 21 files, and one takes at most 20'],
  ])('is refused if it is empty or too large', (text, files, why) => {
    const taken = intake(TEAM, { text, by: 'eve', attachments: Array.from({ length: files }) });
    if (why === undefined) expect(taken).toEqual({ do: 'new' });
    else expect(taken).toMatchObject({ do: 'refuse', why });
  });
});
