// @module-tag all
import { expect, it, onTestFinished } from 'vitest';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { addComment } from '../../support/github/issues.ts';
import { addCheck, addLine, checksOf } from '../../support/github/pulls.ts';
import { createRandom } from '../../support/random.ts';
import { spread, SPREAD } from '../../support/lane.ts';
import { followRoom } from './follow-room.ts';

const POINTS = ['follow.decided', 'follow.repeated', 'follow.planned', 'follow.asked', 'follow.posted'];

it(
  'cut short between seeing and answering, and with answers that are lost: nothing is asked, posted or run again twice',
  { ...SPREAD, timeout: 900_000 },
  async () => {
    const random = createRandom(39);
    onTestFinished(() => armFailpoints(''));
    const kills = spread(12, 300, 40);
    const room = await followRoom({ rounds: 50, days: 90 });
    const { state, pull, fake } = room;
    const said = new Set<string>();
    const cuts: unknown[] = [];
    let heads = 0;
    const act = async (): Promise<void> => {
      if (room.isAtWork()) {
        heads += 1;
        return room.finish(heads.toString(16).padStart(40, '0'));
      }
      const text = `comment ${said.size}`;
      const user = random() < 0.3 ? 'mallory' : 'ann';
      if (user === 'ann') said.add(text);
      const issue = state.issues.get(pull.number);
      if (random() < 0.5) addLine(state, pull, { user, body: text });
      else if (issue !== undefined) addComment(state, issue, user, text);
      const running = checksOf(state, pull.sha).find(({ status }) => status !== 'COMPLETED');
      // A job takes longer than until the next look.
      const isNoted = room.record().repeated.some(({ check }) => check === `CI / ci@${pull.sha}`);
      if (running !== undefined && isNoted) Object.assign(running, { status: 'COMPLETED', conclusion: 'FAILURE' });
      else if (random() < 0.5 && checksOf(state, pull.sha).length === 0)
        addCheck(state, { name: 'ci', commit: pull.sha, conclusion: 'FAILURE' });
    };
    const step = async (): Promise<void> => {
      room.pass(40 * 60_000);
      await room.step();
    };
    for (let left = kills * 30; left > 0 && cuts.length < kills && room.record().rounds < 49; left -= 1) {
      armFailpoints(`${POINTS[Math.floor(random() * POINTS.length)]}=throw`);
      fake.fault = (verb) => (random() < 0.15 && verb !== 'read' ? 'cut' : undefined);
      await step().catch((error: unknown) => void cuts.push(error));
      armFailpoints('');
      if (random() < 0.4) await act();
    }
    fake.fault = () => undefined;
    for (let round = 0; round < 6; round += 1) {
      await step();
      if (room.isAtWork()) await act();
    }
    const running = checksOf(state, pull.sha).filter(({ status }) => status !== 'COMPLETED');
    for (const check of running) Object.assign(check, { status: 'COMPLETED', conclusion: 'SUCCESS' });
    for (let round = 0; round < 3; round += 1) await step();
    expect(cuts.length).toBeGreaterThanOrEqual(Math.min(kills, 10));
    // One answer for each comment of a person who may, and none for others.
    const markers = room.posts().map((body) => body.split('\n')[0]);
    expect(markers).toHaveLength(new Set(markers).size);
    const answered = room.posts().filter((body) => body.includes('squad: '));
    if (room.record().state === 'follows') expect(answered).toHaveLength(said.size);
    // Each comment was given to the run once.
    const given = [...room.asked.values()].flat().map((text) => text.split('\n')[0]);
    const comments = given.filter((line) => line?.startsWith('A comment'));
    expect(comments).toHaveLength(new Set(comments).size);
    // A check of one commit runs again once.
    for (const commit of new Set(state.checks.map((one) => one.commit)))
      expect(state.checks.filter((one) => one.commit === commit).length).toBeLessThanOrEqual(2);
    expect(room.record().rounds).toBe([...room.asked.values()].filter((problems) => problems.length > 0).length);
  },
);
