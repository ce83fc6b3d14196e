import { describe, expect, it } from 'vitest';
import { ALICE, BOT, GUILD, MALLORY, ROOM } from '../../support/discord-server.ts';
import { DiscordRoom, post, until } from './discord-room.ts';
import { ALL } from '../../support/lane.ts';

const OTHER_BOT = '1198374650123456799';

describe('what counts', () => {
  it('a mention in a listed channel, a direct message, and a line in squad’s own thread; nothing else', async () => {
    const room = await DiscordRoom.open();
    const { server, kept } = room;
    server.addRoom({ id: '1298374650123456790', type: 0, guild_id: GUILD });
    const channel = await room.listen();
    server.say('not for squad', { mention: false });
    server.say('elsewhere', { room: '1298374650123456790' });
    const asked = server.say('status', { by: ALICE });
    const direct = server.directOf(ALICE);
    server.say('directly', { room: direct.id, mention: false });
    await until('two are taken', () => kept.taken.length === 2);
    expect(kept.taken).toMatchObject([
      { id: asked.id, text: 'status', sender: ALICE, place: `${ROOM}/${asked.id}`, isToUs: true },
      { text: 'directly', place: direct.id, isToUs: true },
    ]);
    expect(await channel.send({ place: `${ROOM}/${asked.id}`, text: 'all is well', nonce: 'a' })).toEqual({
      did: 'posted',
    });
    expect(server.posts(asked.id)).toEqual(['all is well']);
    expect(server.rooms.get(asked.id)?.name).toBe('status');
    server.say('and now?', { room: asked.id, mention: false });
    await until('the line of the thread is taken', () => kept.taken.length === 3);
    expect(kept.taken[2]).toMatchObject({ text: 'and now?', place: `${ROOM}/${asked.id}` });
  });

  it('bots only where they are listed, webhooks and squad itself never', async () => {
    const room = await DiscordRoom.open({ senders: { [OTHER_BOT]: ['ask'] } });
    const { server, kept } = room;
    await room.listen();
    server.say('from a bot', { by: '1198374650123456798', isBot: true });
    server.say('from a webhook', { webhook_id: '1198374650123456797' });
    server.say('from squad', { by: BOT, isBot: true });
    server.say('someone has joined', { type: 7 });
    server.say('from a listed bot', { by: OTHER_BOT, isBot: true });
    server.say('from someone whom the intake does not know', { by: MALLORY });
    await until('two are taken', () => kept.taken.length === 2);
    expect(kept.taken.map(({ sender }) => sender)).toEqual([OTHER_BOT, MALLORY]);
  });

  it('a mention in a thread of others, which is answered there', async () => {
    const room = await DiscordRoom.open();
    const { server, kept } = room;
    server.addRoom({ id: '1298374650123456791', type: 11, guild_id: GUILD, parent_id: ROOM, owner_id: ALICE });
    await room.listen();
    server.say('not for squad', { room: '1298374650123456791', mention: false });
    server.say('here', { room: '1298374650123456791' });
    server.say('nor this', { room: '1298374650123456791', mention: false });
    server.say('here too', { room: '1298374650123456791' });
    await until('two are taken', () => kept.taken.length === 2);
    expect(kept.taken).toMatchObject([{ text: 'here', place: '1298374650123456791' }, { text: 'here too' }]);
  });
});

describe('each message once', () => {
  it('over a lost connection, a replay, a session that is over and a request to reconnect', ALL, async () => {
    const room = await DiscordRoom.open();
    const { server, kept } = room;
    await room.listen();
    const say = (from: number, to: number) => {
      for (let number = from; number < to; number += 1) server.say(`m${number}`);
    };
    say(0, 3);
    server.gateway.replayLast(3);
    await until('three', () => kept.taken.length === 3);
    server.gateway.cut();
    say(3, 6);
    await until('six', () => kept.taken.length === 6);
    expect(server.gateway.resumed).toBe(1);
    server.gateway.askToReconnect();
    say(6, 9);
    await until('nine', () => kept.taken.length === 9);
    server.gateway.invalidate();
    say(9, 12);
    await until('twelve', () => kept.taken.length === 12);
    expect(kept.texts()).toEqual(Array.from({ length: 12 }, (_, number) => `m${number}`));
    expect([server.gateway.identified.length, kept.again]).toEqual([2, []]);
  });

  it('after an absence, in order, with the threads and direct messages of that time, and none of before', async () => {
    const room = await DiscordRoom.open();
    const { server, kept } = room;
    server.say('before squad was there');
    const channel = await room.listen();
    await until('direct messages are known', () => kept.after.has(server.directOf(ALICE).id));
    const asked = server.say('status');
    await until('one', () => kept.taken.length === 1);
    await channel.send({ place: `${ROOM}/${asked.id}`, text: 'well', nonce: 'a' });
    await room.stop();
    const missed = Array.from({ length: 120 }, (_, number) => `missed ${number}`);
    for (const text of missed) {
      server.say(text);
      server.say('talk', { mention: false });
    }
    server.say('in the thread', { room: asked.id, mention: false });
    server.say('directly', { room: server.directOf(ALICE).id, mention: false });
    server.fail('error', 2, /^GET .*\/messages$/);
    server.fail('limit', 1, /^GET .*\/messages$/);
    await room.listen();
    server.say('live');
    await until('all', () => kept.taken.length === 1 + missed.length + 3);
    const here = kept.taken.filter(({ place }) => place.startsWith(ROOM) && !place.endsWith(asked.id));
    expect(here.map(({ text }) => text)).toEqual([...missed, 'live']);
    expect(kept.texts()).toEqual(expect.arrayContaining(['in the thread', 'directly']));
    expect(kept.again).toEqual([]);
  });

  it('one that cannot be recorded is handed in again, before those that follow', async () => {
    const room = await DiscordRoom.open();
    const { server, kept } = room;
    await room.listen();
    let refusals = 2;
    kept.beforeTake = () => {
      if ((refusals -= 1) >= 0) throw new Error('the disk is full');
    };
    server.say('one');
    server.say('two');
    await until('both', () => kept.taken.length === 2);
    expect(kept.texts()).toEqual(['one', 'two']);
    expect(kept.said).toContain('Discord: a message cannot be recorded, and squad tries again: the disk is full');
  });

  it('what is edited or deleted after it was taken stays as it was', async () => {
    const room = await DiscordRoom.open();
    const { server, kept } = room;
    await room.listen();
    const one = server.say('one');
    const two = server.say('two');
    await until('both', () => kept.taken.length === 2);
    server.edit(one, `<@${BOT}> something else`);
    server.delete(two);
    await room.stop();
    await room.listen();
    server.say('three');
    await until('three', () => kept.taken.length >= 3);
    expect([kept.texts(), kept.again]).toEqual([['one', 'two', 'three'], []]);
  });
});

describe('each post once', () => {
  it.each([
    ['a limit', 'limit'],
    ['an error', 'error'],
    ['a cut before', 'cut'],
    ['a cut after the write', 'cut-after'],
  ] as const)('%s', async (_, fault) => {
    const room = await DiscordRoom.open();
    const { server } = room;
    const channel = await room.channel();
    server.fail(fault);
    const tries = [];
    for (const text of ['a', 'b', 'c']) tries.push((await post(channel, { place: ROOM, text, nonce: text })).tries);
    expect([server.posts(), tries]).toEqual([
      ['a', 'b', 'c'],
      [2, 1, 1],
    ]);
  });

  it('one try of each: squad waits itself', async () => {
    const { server, channel } = await withChannel();
    server.fail('error');
    expect(await channel.send({ place: ROOM, text: 'a', nonce: 'a' })).toEqual({
      did: 'later',
      why: 'Discord answers with 500',
    });
    expect(server.requests.filter((line) => line.startsWith('POST'))).toHaveLength(1);
    server.fail('limit');
    expect(await channel.send({ place: ROOM, text: 'a', nonce: 'a' })).toMatchObject({
      did: 'later',
      afterMs: 200,
    });
    await server.close();
    expect(await channel.send({ place: ROOM, text: 'a', nonce: 'a' })).toMatchObject({
      did: 'later',
      why: expect.stringMatching(/^Discord does not answer: \S/),
    });
  });

  it('also when Discord has forgotten the nonce', async () => {
    const room = await DiscordRoom.open({}, { nonceMs: 0 });
    const { server } = room;
    server.fail('cut-after');
    const at = Date.now();
    expect(await (await room.channel()).send({ place: ROOM, text: ' a ', nonce: 'n' })).toMatchObject({ did: 'later' });
    // Ten minutes later, by another process.
    const later = await room.channel();
    const asked = { place: ROOM, text: ' a ', nonce: 'n', triedAt: at - 600_000 };
    expect(await later.send(asked)).toEqual({ did: 'posted' });
    expect(await later.send({ ...asked, text: 'b' })).toEqual({ did: 'posted' });
    expect(server.posts()).toEqual(['a', 'b']);
  });

  it('calls no one, shows no previews, and takes a nonce of any length', async () => {
    const { server, channel } = await withChannel();
    const nonce = 'f'.repeat(64);
    for (let times = 0; times < 2; times += 1) await channel.send({ place: ROOM, text: '@everyone', nonce });
    expect(server.allPosts()).toMatchObject([{ content: '@everyone' }]);
    expect(server.bodies.at(-1)).toMatchObject({
      allowed_mentions: { parse: [] },
      flags: 4,
      enforce_nonce: true,
    });
  });
});

describe('places that are not to be had', () => {
  it.each([
    ['a channel that is gone', 404, 10_003, true],
    ['one that the bot may not see', 403, 50_001, true],
    ['one in which it may not write', 403, 50_013, true],
    ['a text that Discord does not take', 400, 50_035, false],
  ])('%s', async (_, status, code, gone) => {
    const { server, channel } = await withChannel();
    server.rooms.get(ROOM)!.error = [status, code];
    expect(await channel.send({ place: ROOM, text: 'a', nonce: 'a' })).toMatchObject({ did: 'refused', gone });
  });

  it('a thread on a message that was deleted', async () => {
    const { server, channel } = await withChannel();
    const message = server.say('status');
    server.delete(message);
    const place = `${ROOM}/${message.id}`;
    expect(await channel.send({ place, text: 'a', nonce: 'a' })).toMatchObject({ did: 'refused', gone: true });
    expect(await channel.directPlace(ALICE)).toBe(server.directOf(ALICE).id);
  });

  it('a thread where none can be opened: the answer is below the message', async () => {
    const inner = '1298374650123456792';
    const room = await DiscordRoom.open({ places: [inner] });
    room.server.addRoom({ id: inner, type: 11, guild_id: GUILD, parent_id: ROOM, owner_id: ALICE });
    const message = room.server.say('status', { room: inner });
    const channel = await room.channel();
    expect(await channel.send({ place: `${inner}/${message.id}`, text: 'a', nonce: 'a' })).toEqual({ did: 'posted' });
    expect(room.server.allPosts()).toMatchObject([
      { channel_id: inner, message_reference: { message_id: message.id } },
    ]);
  });
});

describe('words for people', () => {
  it('a token that is refused', async () => {
    const room = await DiscordRoom.open();
    await room.listen('MTI5.wrong.token');
    const text =
      'Discord refuses the token in DISCORD_TOKEN: copy it again from the page "Bot" of the application, and start squad again';
    await until('the word', () => room.kept.states.includes(`lost ${text}`));
  });

  it('an application that may not see what messages say', async () => {
    const room = await DiscordRoom.open();
    room.server.gateway.hasContent = false;
    void room.listen().catch(() => undefined);
    await until('the word', () => room.kept.states.some((text) => text.includes('switch on "Message Content Intent"')));
  });

  it('two programs with one token', async () => {
    const room = await DiscordRoom.open();
    const own = await room.listen();
    await own.send({ place: ROOM, text: 'mine', nonce: 'a' });
    const other = await room.channel();
    await other.send({ place: ROOM, text: 'yours', nonce: 'b' });
    await until('the word', () => room.kept.said.length > 0);
    expect(room.kept.said).toEqual([expect.stringContaining('another program speaks as this bot')]);
    expect(room.kept.said[0]).toContain(room.server.allPosts()[1]!.id);
  });

  it('a channel of the settings that the bot cannot read', async () => {
    const room = await DiscordRoom.open({ places: [ROOM, '1298374650123456795'] });
    await room.listen();
    await until('the word', () => room.kept.said.length > 0);
    expect(room.kept.said[0]).toBe(
      'Discord: the channel 1298374650123456795 cannot be read: Discord refuses: Unknown Channel (404, 10003)',
    );
  });
});

it('reads what was said in a place', async () => {
  const room = await DiscordRoom.open();
  for (let number = 0; number < 130; number += 1) room.server.say(`m${number}`);
  const channel = await room.channel();
  const newest = await all(channel.history(ROOM));
  expect(newest.map(({ text }) => text)).toEqual(Array.from({ length: 50 }, (_, number) => `m${number + 80}`));
  const since = await all(channel.history(ROOM, newest[0]!.id));
  expect(since.map(({ text }) => text)).toEqual(newest.slice(1).map(({ text }) => text));
  expect(await all(channel.history(ROOM, '1'))).toHaveLength(130);
});

async function withChannel() {
  const room = await DiscordRoom.open();
  return { server: room.server, channel: await room.channel() };
}

async function all<T>(from: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of from) found.push(one);
  return found;
}
