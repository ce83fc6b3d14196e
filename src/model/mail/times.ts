// Times (ms) and sizes of delivery, as the protocol has them. One place, so that the router, its clients and the
// documentation cannot disagree.

/** How long a message may lie unread by somebody who can receive, at each try. */
export const ACK_TIMEOUT_MS = 2 * 60_000;

/** How long the router waits after the first, second … try that was not acknowledged. */
export const RETRY_BACKOFF_MS = [30_000, 2 * 60_000, 5 * 60_000, 10 * 60_000, 10 * 60_000] as const;

/** Each wait is up to so much longer or shorter, as a share of it. */
export const RETRY_JITTER = 0.2;

/** Besides the first delivery. */
export const MOST_RETRIES = 5;

/** For a review that does not say by when. */
export const REVIEW_MS = 60 * 60_000;

/** For an assignment that a tool makes without a deadline. */
export const ASSIGN_MS = 60 * 60_000;

/** The same for a hand-off, which may wait a night for its turn. */
export const HANDOFF_MS = 8 * 60 * 60_000;

/** From the moment at which a verify was read; silence then counts as no new issue. */
export const VERIFY_MS = 10 * 60_000;

/** From the moment at which a question was read; then, and after each further such time, an alert tells of it. */
export const QUESTION_MS = 30 * 60_000;

/** How often a reader says that it is there. */
export const BEAT_MS = 30_000;

/** Without a beat for so long it counts as offline. */
export const ONLINE_MS = 2 * BEAT_MS;

/** A longer body is kept in a file of its own (UTF-8 bytes). */
export const BODY_INLINE_BYTES = 4096;

/** A longer body is refused (UTF-8 bytes). */
export const MOST_BODY_BYTES = 256 * 1024;

/** Lists and objects within each other in a body. */
export const MOST_BODY_DEPTH = 64;

/** Names and values in a body, all together: what checks them takes time for each. */
export const MOST_BODY_PARTS = 20_000;

/** Recipients of one message. */
export const MOST_RECIPIENTS = 33;
