"""Prompts around a problem: `{question}` is its text, `{instruction}` how to give the answer.

A template says nothing of the form of the answer beyond the instruction, and nothing about the
problem. `WORKED` ones ask for the way to the answer too, so they are not for tasks whose reply is
the answer alone.
"""

ORIGINAL = "{question}\n\n{instruction}"

PLAIN = (
    ORIGINAL,
    "{instruction}\n\n{question}",
    "Problem:\n{question}\n\n{instruction}",
    "Question: {question}\n\n{instruction}",
    "Task\n----\n{question}\n\nAnswer\n------\n{instruction}",
    "# Problem\n\n{question}\n\n# How to answer\n\n{instruction}",
    "### Instruction\n{instruction}\n\n### Problem\n{question}",
    "Here is a problem.\n\n{question}\n\n{instruction}",
    "Solve this.\n\n{question}\n\n{instruction}",
    "Please solve the following problem. {instruction}\n\n{question}",
    "Read the problem below with care. {instruction}\n\nProblem: {question}",
    "Your task is below. {instruction}\n\n---\n{question}\n---",
    "{question}\n\n---\nNote: {instruction}",
    "Exercise:\n\n{question}\n\nForm of the answer: {instruction}",
    "[problem]\n{question}\n[end of problem]\n\n{instruction}",
    "A reader sent in this problem:\n\n{question}\n\n{instruction}",
    "You are good at problems like this one.\n\n{question}\n\n{instruction}",
    "The next problem has to be solved exactly. {instruction}\n\n{question}",
)

WORKED = (
    "{question}\n\nWork it out step by step. {instruction}",
    "Think before you answer.\n\n{question}\n\n{instruction}",
    "Solve the problem and show how you got there. {instruction}\n\nProblem:\n{question}",
    "{question}\n\nExplain your reasoning first. {instruction}",
    "Problem: {question}\n\nReason in small steps and check each of them. {instruction}",
    "Question:\n{question}\n\nFirst make a plan, then carry it out. {instruction}",
    "I need help with this:\n\n{question}\n\nTake me through it. {instruction}",
    "You are a careful tutor. Solve this as if for a student.\n\n{question}\n\n{instruction}",
    "# Task\n{question}\n\n# Reply\nYour reasoning, and then the answer. {instruction}",
    "{instruction}\n\nBefore that, write down what is known and what is asked.\n\n{question}",
    "Here it is:\n\n{question}\n\nWrite down your thoughts and check them. {instruction}",
    "Take your time.\n\n{question}\n\nTest your result against the problem. {instruction}",
)
