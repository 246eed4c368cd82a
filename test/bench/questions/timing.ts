import type { ChainAdapter } from "../../../types/chain-adapter.js";
import { sizes, type SizeName } from "../chain/sizes.js";
import { undisturbed } from "../load/statistics.js";
import { timeOnce } from "./asking.js";
import { type Question, type QuestionGroup, questionsOf } from "./questions.js";

export interface QuestionsInput {
  size: SizeName;
  rounds: number;
  /** Ids of questions that are not to be asked (`QuestionFigure.id`). */
  without: string[];
}

export interface QuestionFigure {
  id: string;
  group: QuestionGroup;
  of: string;
  name: string;
  /** Microseconds. */
  spent: number;
  /** Undefined where the question was refused: too many rows would have to be looked at. */
  total: number | undefined;
}

/** Milliseconds after which a question has been asked often enough. */
const enough = 500;
/** Times that all questions are gone over: what else the machine does for a moment then disturbs few of the times of any one of them. */
const passes = 5;

interface Asking {
  question: Question;
  times: number[];
  total: number | undefined;
}

const askAgain = async (asking: Asking, chain: ChainAdapter, rounds: number): Promise<void> => {
  const { question, times } = asking;
  const begun = performance.now();
  for (let asked = 0; asked < rounds && (asked < 1 || performance.now() - begun < enough / passes); asked++) {
    const { spent, answer } = await timeOnce(chain, question.ask);
    times.push(spent);
    asking.total = answer?.total;
  }
};

/** How long the answers take, within the process that gives them. */
export const measureQuestions = async (chain: ChainAdapter, { size, rounds, without }: QuestionsInput): Promise<QuestionFigure[]> => {
  const idOf = ({ group, of, name }: Question): string => `${group}, ${of}: ${name}`;
  const questions = questionsOf(sizes[size]).filter((question) => !without.includes(idOf(question)));
  const askings = questions.map((question): Asking => ({ question, times: [], total: undefined }));
  for (let pass = 0; pass < passes; pass++) {
    for (const asking of askings) await askAgain(asking, chain, Math.ceil(rounds / passes));
  }
  return askings.map(({ question, times, total }) => {
    const { group, of, name } = question;
    return { id: idOf(question), group, of, name, spent: undisturbed(times), total };
  });
};
