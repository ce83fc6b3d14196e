import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forge, FORGERIES } from '../../../support/mail-forgeries.ts';
import { violations } from '../support.ts';
import { note, openMailRoom, person, sent } from './support.ts';

/** Of each path; `npm run test:chaos` makes 1,000 and more. */
const TRIES = 100;

test.each(FORGERIES)('S10 %s: none is accepted, and each is on record', (_, forgeryOf) => {
  const { room, ...found } = forge(forgeryOf, TRIES);
  expect(found).toEqual({ accepted: 0, recorded: TRIES, sent: 0 });
  expect(violations(room.path)).toEqual([]);
});

test('S10 no secret is in the file, only its hash', () => {
  const room = openMailRoom();
  room.turn('a-1', 'a');
  const tokens = [room.mail.issueTurnToken(room.lease, 'a-1'), room.mail.issuePaneToken('r', 'B', 'pane')];
  sent(room.mail.send(person('A'), note()));
  const files = ['squad.db', 'squad.db-wal'].map((name) => readFileSync(join(room.directory, name), 'latin1')).join('');
  for (const token of tokens) {
    expect(files).toContain(hash('sha256', token, 'hex'));
    expect(files).not.toContain(token);
  }
});
