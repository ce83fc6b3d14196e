/** Kinds of the records of people and channels, and who writes each. */
export const PEOPLE_KINDS = {
  /** The intake of a channel, and `squad ask`. */
  message: 'message',
  /** The intake of a channel. */
  cursor: 'channel-cursor',
  /** Whatever submits a run of the orchestrator that reads messages. */
  ask: 'message-ask',
  /** That run. */
  reading: 'message-reading',
  /** The step that acts on messages. */
  outcome: 'message-outcome',
  /** The step that acts on messages, and the one that writes notices. */
  reply: 'reply',
  /** The one that posts. */
  delivery: 'reply-delivery',
  /** Commands of people that run an action, and the step that acts on messages. */
  action: 'action-run',
} as const;
