package main

import "anamnesis/internal/recall"

// inputNames names the values of recall.Result.ScoreInputs.
var inputNames = append(recall.FeatureNames[:len(recall.FeatureNames):len(recall.FeatureNames)],
	"nearest meaning", "mean meaning of the best", "words present", "share of the words", "rarity of the words", unknownWords)

const unknownWords = "unknown words"

// inputSigns says of each value of recall.Result.ScoreInputs whether it speaks for an answer (1)
// or against one (-1). Those with 0 have weights that are set by hand: no set shows a
// graph, dates, or notes that were written together.
func inputSigns() []float64 {
	signs := make([]float64, len(inputNames))
	for i, name := range inputNames {
		switch {
		case name == unknownWords:
			signs[i] = -1
		case i >= len(recall.FeatureNames) || recall.UnfittedWeights[i] == 0:
			signs[i] = 1
		}
	}
	return signs
}

// scoreSignal is what the score makes of inputs, before the middle of the store is taken
// from it.
func scoreSignal(in []float64) (sum float64) {
	for i, x := range recall.ScoreWeights {
		sum += x * in[i]
	}
	return sum
}

// startWeights are the weights from which the curves are fitted, in the order of
// recall.FeatureNames: those of the gate's reading, 0 for a feature without a curve.
func startWeights() []float64 {
	weights := make([]float64, len(recall.FeatureNames))
	for i := range weights {
		if recall.UnfittedWeights[i] == 0 {
			weights[i] = recall.RelevanceWeights[i]
		}
	}
	return weights
}

// unfittedWorth returns what the features without a curve are worth.
func unfittedWorth(values []float64) (sum float64) {
	for i, x := range values {
		sum += recall.UnfittedWeights[i] * x
	}
	return sum
}
