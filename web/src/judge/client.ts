// Asks the worker that judges values, and stops it where something takes too long: a tab never hangs, and what was not
// judged is said to be so.

import type { Item, Question } from "./judgement";
import type { Reply, Request } from "./messages";
import type { Problem } from "./refusal";
import type { Verdict } from "./rules";

/** As much of a Worker as is needed. */
export interface JudgeWorker {
  postMessage(message: Request): void;
  terminate(): void;
  onmessage: ((event: { data: Reply }) => void) | null;
  onerror: ((event: { message?: string }) => void) | null;
}

export interface Judgement {
  /** What is wrong, by the setter's name; setters that are not in it are fine. */
  readonly problems: ReadonlyMap<string, Problem>;
  /** The rules that name a setter which was given a value. */
  readonly rules: readonly Verdict[];
  /** Setters whose values could not be judged in time. */
  readonly unjudged: readonly string[];
}

export interface Judge {
  judge(question: Question): Promise<Judgement>;
  close(): void;
}

const TIME = 2000; // milliseconds that one value or one rule may take
const MOST = 3; // things that may take too long, before the rest of a question is given up

/** A judge with a worker of its own; `time` is what one value or one rule may take, in milliseconds. */
export function createJudge(makeWorker: () => JudgeWorker, time = TIME): Judge {
  let worker: JudgeWorker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let id = 0;

  async function judge(question: Question): Promise<Judgement> {
    const problems = new Map<string, Problem>();
    const rules = new Map<number, Verdict>();
    const slow: Item[] = [];
    for (let isDone = false; !isDone && slow.length <= MOST; ) {
      id += 1;
      worker ??= makeWorker();
      const stuck = await round(worker, { id, question, skipped: slow.map((item) => JSON.stringify(item)) }, time, (reply) => {
        if (!("answer" in reply)) return;
        if ("verdict" in reply.answer && "rule" in reply.item) rules.set(reply.item.rule, reply.answer.verdict);
        else if ("problem" in reply.answer && reply.answer.problem && "setter" in reply.item) problems.set(reply.item.setter, reply.answer.problem);
      });
      isDone = stuck === "done";
      if (stuck === "done") break;
      worker.terminate();
      worker = undefined;
      if (stuck === "lost") throw new Error("the values cannot be judged in this browser");
      slow.push(stuck);
    }
    return { problems, ...unjudged(question, slow, problems, rules) };
  }

  return {
    judge(question) {
      const next = last.then(() => judge(question));
      last = next.catch(() => undefined);
      return next;
    },
    close() {
      worker?.terminate();
      worker = undefined;
    },
  };
}

/** Ask once; return what took too long, `lost` for a worker that cannot be loaded, or `done`. */
function round(worker: JudgeWorker, request: Request, time: number, take: (reply: Reply) => void): Promise<Item | "lost" | "done"> {
  return new Promise((resolve) => {
    let current: Item | "lost" = "lost";
    let timer = setTimeout(() => resolve(current), 5 * time); // it is loaded first
    worker.onerror = () => finish("lost");
    worker.onmessage = ({ data }) => {
      if (data.id !== request.id) return;
      take(data);
      if ("done" in data) finish("done");
      else if ("begun" in data) {
        current = data.begun;
        clearTimeout(timer);
        timer = setTimeout(() => finish(data.begun), time);
      }
    };
    worker.postMessage(request);

    function finish(end: Item | "lost" | "done"): void {
      clearTimeout(timer);
      resolve(end);
    }
  });
}

/** Say of what took too long, and of rules that were never reached, that it was not judged. */
function unjudged(question: Question, slow: readonly Item[], problems: ReadonlyMap<string, Problem>, rules: ReadonlyMap<number, Verdict>): Pick<Judgement, "rules" | "unjudged"> {
  const isGivenUp = slow.length > MOST;
  const isSlow = (place: number): boolean => slow.some((item) => "rule" in item && item.rule === place);
  const found = question.rules.flatMap((rule, place): Verdict[] => {
    const verdict = rules.get(place);
    if (verdict) return [verdict];
    if (!isGivenUp && !isSlow(place)) return [];
    return [{ rule, state: "not judged", words: "it takes too long", hint: `the rule is ${rule.text}` }];
  });
  const names = isGivenUp ? [...question.values.keys()].filter((name) => !problems.has(name)) : slow.flatMap((item) => ("setter" in item ? [item.setter] : []));
  return { rules: found, unjudged: names };
}
