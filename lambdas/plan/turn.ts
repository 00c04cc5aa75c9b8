import type { VersionGuard } from '../core/decision.ts';
import type { Progress } from '../core/execution.ts';
import type { TypeManifest } from '../core/manifest.ts';
import { judgeOrder, lastKeyAttribute, versionAttribute } from '../core/ordering.ts';
import { numberOf, type Row, type RowReader, textOf } from '../core/ports.ts';
import { aggregateIndexKey, type ItemKey, skipKey } from '../core/table.ts';

/** Skip markers read at once; a longer run of skipped versions is applied in several rounds. */
const SKIP_WINDOW = 100;
/** Park's own time-out: the safety net should the stream be late. */
const PARK_SECONDS = 900;

export interface TurnFacts {
  readonly type: Pick<TypeManifest, 'ordering' | 'stream'>;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly idempotencyKey: string;
  readonly incoming: number | undefined;
  readonly aggregate: Row | undefined;
  /** Where the waiters and the skip markers of the aggregate's streams lie. */
  readonly waiting: ItemKey;
  readonly progress: Progress;
  readonly gapTimeoutSeconds: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export type Turn =
  | { readonly turn: 'apply'; readonly guard: VersionGuard | undefined }
  | { readonly turn: 'superseded' }
  | { readonly turn: 'conflict' }
  | { readonly turn: 'gapTimedOut'; readonly missing: number }
  | {
      readonly turn: 'park';
      readonly timeoutSeconds: number;
      /** Since when the missing version has not even been received; absent while it has. */
      readonly gapSince?: string;
    };

/** Judges a message's turn. Skip markers and the missing version's inbox row are read only when it is not next. */
export async function takeTurn(facts: TurnFacts, rows: RowReader): Promise<Turn> {
  const { stream, ordering } = facts.type;
  const order = {
    ordering,
    stream,
    idempotencyKey: facts.idempotencyKey,
    incoming: facts.incoming,
    stored: numberOf(facts.aggregate, versionAttribute(stream)) ?? 0,
    lastKey: textOf(facts.aggregate, lastKeyAttribute(stream)),
  };
  const first = judgeOrder({ ...order, skipped: [] });
  if (first.verdict !== 'wait') return toTurn(first);

  const markers = await rows.range(
    facts.waiting.PK,
    skipKey(facts.waiting, stream, order.stored + 1).SK,
    skipKey(facts.waiting, stream, (facts.incoming ?? 1) - 1).SK,
    SKIP_WINDOW,
  );
  const skipped = markers.flatMap((marker) => numberOf(marker, 'version') ?? []);
  const second = judgeOrder({ ...order, skipped });
  if (second.verdict !== 'wait') return toTurn(second);

  const place = aggregateIndexKey(facts.aggregateType, facts.aggregateId, stream, second.missing);
  if (await rows.hasMessage(place.aggregate, place.aggregateOrder)) {
    return { turn: 'park', timeoutSeconds: PARK_SECONDS };
  }
  const since = facts.progress.gapSince ?? new Date(facts.now).toISOString();
  const leftMillis = Date.parse(since) + facts.gapTimeoutSeconds * 1000 - facts.now;
  if (leftMillis <= 0) return { turn: 'gapTimedOut', missing: second.missing };
  return {
    turn: 'park',
    gapSince: since,
    timeoutSeconds: Math.max(1, Math.min(PARK_SECONDS, Math.ceil(leftMillis / 1000))),
  };
}

function toTurn(verdict: Exclude<ReturnType<typeof judgeOrder>, { verdict: 'wait' }>): Turn {
  switch (verdict.verdict) {
    case 'apply':
      return { turn: 'apply', guard: verdict.guard };
    case 'superseded':
      return { turn: 'superseded' };
    case 'conflict':
      return { turn: 'conflict' };
  }
}
