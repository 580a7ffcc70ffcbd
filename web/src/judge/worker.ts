// The worker that judges values: a pattern or a rule of a stranger's package may take as long as it likes, in here.

import { answerOf, itemsOf } from "./judgement";
import type { Reply, Request } from "./messages";

function reply(message: Reply): void {
  self.postMessage(message);
}

self.onmessage = ({ data }: MessageEvent<Request>): void => {
  const { id, question, skipped } = data;
  for (const item of itemsOf(question)) {
    if (skipped.includes(JSON.stringify(item))) continue;
    reply({ id, begun: item });
    reply({ id, item, answer: answerOf(question, item) });
  }
  reply({ id, done: true });
};
