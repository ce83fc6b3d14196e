import { expect, it } from 'vitest';
import { noSuch } from '../../src/model/unknown-name.ts';

it.each([
  [[], 'there is no agent ghost, nor any other'],
  [['planner'], 'there is no agent ghost; there is only planner'],
  [['planner', 'rex'], 'there is no agent ghost; there are planner, rex'],
  [['ghosts', 'rex'], 'there is no agent ghost; did you mean ghosts?'],
])('a name that is unknown among %j', (known, message) => {
  expect(noSuch('agent', 'ghost', known)).toBe(message);
});
