"""Reading and comparing mathematical answers: text to tokens to typed values to a decision."""
