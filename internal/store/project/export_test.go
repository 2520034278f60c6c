package project

// IndexHas is indexHas for its fuzz test.
var IndexHas = indexHas
