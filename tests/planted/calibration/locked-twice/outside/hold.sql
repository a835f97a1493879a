update boxes set counted = counted where box <= 130;
