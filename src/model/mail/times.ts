// Times (ms) and sizes of delivery, for the router, its clients and the documentation.

/** How long a recipient who can receive may leave a message unread, at each try. */
export const ACK_TIMEOUT_MS = 2 * 60_000;

/** How long the router waits after the first, second … try without an ack. */
export const RETRY_BACKOFF_MS = [30_000, 2 * 60_000, 5 * 60_000, 10 * 60_000, 10 * 60_000] as const;

/** The share by which each wait may be longer or shorter. */
export const RETRY_JITTER = 0.2;

/** After the first delivery. */
export const MOST_RETRIES = 5;

/** For a review without a deadline. */
export const REVIEW_MS = 60 * 60_000;

/** For an assignment that a tool makes without a deadline. */
export const ASSIGN_MS = 60 * 60_000;

/** For a hand-off without a deadline. It may wait a night for its turn. */
export const HANDOFF_MS = 8 * 60 * 60_000;

/** From the moment that a verify was read. After that, silence counts as no new issue. */
export const VERIFY_MS = 10 * 60_000;

/** From the moment that a question was read. After this time, and each time after that, squad prints an alert. */
export const QUESTION_MS = 30 * 60_000;

/** How often a reader sends a heartbeat. */
export const BEAT_MS = 30_000;

/** Time without a heartbeat after which a reader counts as offline. */
export const ONLINE_MS = 2 * BEAT_MS;

/** A longer body is kept in a file of its own (UTF-8 bytes). */
export const BODY_INLINE_BYTES = 4096;

/** A longer body is refused (UTF-8 bytes). */
export const MOST_BODY_BYTES = 256 * 1024;

/** Levels of lists and objects in a body. */
export const MOST_BODY_DEPTH = 64;

/** Names and values in a body, together: the checks take time for each. */
export const MOST_BODY_PARTS = 20_000;

/** Recipients of one message. */
export const MOST_RECIPIENTS = 33;
